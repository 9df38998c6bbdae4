/** The containment test for long texts, compared with the language's own. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { containment, shortPattern } from '../engine/storage/caseFold.js'
import { seededRandom } from '../stress/random.js'

const test = suite('containment')

test('it agrees with includes() on texts whose parts repeat', () => {
  const random = seededRandom(7)
  const rounds = 3_000
  let found = 0
  for (let round = 0; round < rounds; round++) {
    // A beginning that repeats: a search that resumes at the wrong place misses the text.
    const parts = Array.from({ length: 1 + random.below(3) }, () => `${'a'.repeat(random.below(6))}b`)
    let text = ''
    while (text.length < 400) text += random.pick(parts)
    const from = random.below(150)
    const slice = text.slice(from, from + shortPattern + 1 + random.below(150))
    const changed = random.below(slice.length)
    const pattern = random.chance(0.5) ? slice : `${slice.slice(0, changed)}a${slice.slice(changed + 1)}`
    const isFound = containment(pattern)(text)
    assert.is(isFound, text.includes(pattern), `${pattern} in ${text}`)
    if (isFound) found++
  }
  assert.ok(found > rounds / 4 && found < rounds, `${found} of ${rounds} were found`)
})

test.run()
