/** Worker thread for reads whose cost grows with the table. */
import { workerData } from 'node:worker_threads'
import { connect } from './connection.js'
import { type OpenedFile, refuseMoved } from './openedFile.js'
import { reader } from './reader.js'
import { serveTasks } from './worker.js'

const file = workerData as OpenedFile
const database = connect(file.path, { timeout: 500, readonly: true }, file.isUnmanaged)
refuseMoved(file)

serveTasks(reader(database))
