/** Admits tasks of several groups and classes, so many at once; nothing that runs is interrupted. */

export interface Limits {
  readonly all: number
  readonly ofGroup: number
}

export interface Task<Class extends string> {
  readonly class: Class
  /** Groups take turns, such as tables: the one with the fewest running tasks is next, then the one whose turn was longest ago. */
  readonly group: string
  /** What the task does; tasks of a group that do different things take turns too. */
  readonly name: string
}

export const fairQueue = <Class extends string>(total: Limits, limits: Readonly<Record<Class, Limits>>) => {
  const running = new Set<Task<Class>>()
  /** By what they do, oldest first: either the first of these can run, or none. */
  const queues = new Map<string, Map<Task<Class>, () => void>>()
  const turns = new Map<string, number>()
  let turn = 0

  const count = (is: (task: Task<Class>) => boolean): number => [...running].filter(is).length
  const hasRoom = ({ class: of, group }: Task<Class>): boolean =>
    count((task) => task.group === group) < total.ofGroup &&
    count((task) => task.class === of) < limits[of].all &&
    count((task) => task.class === of && task.group === group) < limits[of].ofGroup
  /** How many running tasks are like this one; those of its group count most. */
  const share = ({ group, name }: Task<Class>): number =>
    count((task) => task.group === group) * total.all + count((task) => task.group === group && task.name === name)

  const dequeue = (key: string, task: Task<Class>): void => {
    const queue = queues.get(key)
    queue?.delete(task)
    if (queue?.size === 0) queues.delete(key)
  }
  const admit = (): void => {
    while (running.size < total.all && queues.size > 0) {
      const oldest = [...queues].map(([key, queue]) => {
        const [task, start] = queue.entries().next().value as [Task<Class>, () => void]
        return { key, task, start, lastTurn: turns.get(key) ?? 0 }
      })
      const [next] = oldest
        .filter(({ task }) => hasRoom(task))
        .sort((a, b) => share(a.task) - share(b.task) || a.lastTurn - b.lastTurn)
      if (!next) return
      dequeue(next.key, next.task)
      turns.set(next.key, ++turn)
      running.add(next.task)
      next.start()
    }
  }

  return {
    enter(given: Task<Class>) {
      const task = { ...given }
      const key = `${task.class} ${task.group} ${task.name}`
      const queue = queues.get(key) ?? new Map<Task<Class>, () => void>()
      queues.set(key, queue)
      const entered = new Promise<void>((resolve) => queue.set(task, resolve))
      admit()
      return {
        entered,
        /** The task has ended, or nobody waits for it any longer. */
        leave(): void {
          dequeue(key, task)
          if (running.delete(task)) admit()
        },
      }
    },
    waiting: (): number => [...queues.values()].reduce((sum, queue) => sum + queue.size, 0),
  }
}
