/** What is stored of webhooks: where each subscriber is, what it is told next, and which process delivers. */

/** A subscriber and the path of a resource of whose changes it is told. */
export interface SubscriptionKey {
  readonly subscriber: string
  readonly resource: string
}

/** What a subscriber is told, until its receiver has taken it: the same at each attempt. */
export interface PendingDelivery {
  readonly id: string
  readonly body: string
  /** The position in the changes after it. */
  readonly next: string
  /** A digest of what the subscriber might read when it was made. */
  readonly reader: string
  /** The time of the first change in it, in milliseconds. */
  readonly since: number
}

export interface Subscription {
  /** The position in the changes up to which the receiver was told everything. */
  readonly position: string
  /** A digest of the subscriber's entry when the receiver has failed or ended the subscription, for which alone the rest counts. */
  readonly entry: string
  readonly isEnded: boolean
  /** How often the pending delivery has failed, and when it may be tried again, in milliseconds. */
  readonly attempts: number
  readonly nextAttempt: number
  readonly delivery?: PendingDelivery | undefined
}

/** A subscription as it was read, which counts how often pending deliveries were erased. */
export interface StoredSubscription extends Subscription {
  readonly erasures: number
}

/** The lease of the process that delivers: its token, empty if no process has it, and a count that grows while the process is alive. */
export interface Lease {
  readonly token: string
  readonly beat: number
}

export interface WebhookStore {
  /** Adds a subscription that begins at a position, unless there is one. */
  subscribe(key: SubscriptionKey, position: string): Promise<void>
  read(key: SubscriptionKey): Promise<StoredSubscription | undefined>
  /** Stores how a subscription goes on, if `token` still has the lease, and if the subscription is as it was read. */
  store(token: string, key: SubscriptionKey, before: StoredSubscription, after: Subscription): Promise<boolean>
  /** Ends all subscriptions of a subscriber for as long as it has this entry, if `token` still has the lease. */
  end(token: string, subscriber: string, entry: string): Promise<boolean>
  lease(): Promise<Lease | undefined>
  /** Changes the lease, if it is as it was read. */
  changeLease(before: Lease, after: Lease): Promise<boolean>
}
