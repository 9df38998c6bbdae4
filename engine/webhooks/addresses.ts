/** Which addresses are not those of a receiver on the internet. */
import { BlockList, isIPv4 } from 'node:net'

// biome-ignore format: a table
const reserved: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12],
  ['192.0.0.0', 24], ['192.0.2.0', 24], ['192.88.99.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15],
  ['198.51.100.0', 24], ['203.0.113.0', 24], ['224.0.0.0', 4], ['240.0.0.0', 4],
]

// biome-ignore format: a table
const reservedWithinGlobal: readonly (readonly [network: string, bits: number])[] = [
  ['2001::', 23], ['2001:db8::', 32], ['2002::', 16], ['3fff::', 20],
]

const [blocked, global] = [new BlockList(), new BlockList()]
for (const [network, bits] of reserved) blocked.addSubnet(network, bits, 'ipv4')
for (const [network, bits] of reservedWithinGlobal) blocked.addSubnet(network, bits, 'ipv6')
global.addSubnet('2000::', 3, 'ipv6')

/**
 * Whether an address is private, link-local, loopback, shared, reserved or multicast. Of IPv6 only global unicast addresses are not:
 * those that stand for an IPv4 address, as with NAT64, lead to networks that nobody has checked.
 */
export const isPrivateAddress = (address: string): boolean => {
  if (isIPv4(address)) return blocked.check(address, 'ipv4')
  return !global.check(address, 'ipv6') || blocked.check(address, 'ipv6')
}
