/** Creates a function that computes once for each object, and keeps the result for as long as the object lives. */
export const oncePer = <Key extends object, Result>(compute: (key: Key) => Result): ((key: Key) => Result) => {
  const results = new WeakMap<Key, Result>()
  return (key) => {
    const result = results.get(key) ?? compute(key)
    results.set(key, result)
    return result
  }
}
