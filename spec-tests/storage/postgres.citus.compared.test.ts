/** A Citus cluster answers every request as SQLite does, on distributed and on reference tables. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { cluster, distribute, dropSchemas, freshSchema } from '../support/citus.js'
import { comparedRegistry, spreadTables } from '../support/comparedRequests.js'
import { differencesFromSqlite } from '../support/compareServices.js'

const test = suite('Citus, compared with SQLite')
const onCluster = cluster ? test : test.skip
test.after(dropSchemas)

onCluster('the same requests have the same answers', async () => {
  const url = await freshSchema()
  await (await openStorage(comparedRegistry, url, { ...storageOptions, derivedObjects: false })).close()
  const { status, stderr } = distribute(url, spreadTables.join(' '))
  assert.is(status, 0, stderr)
  assert.equal(await differencesFromSqlite({ url }), [])
})

test.run()
