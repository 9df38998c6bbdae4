/** The script of every page. Without it all pages work. */
import { editableCells } from './cells.js'
import { followedTable } from './changes.js'
import { comboboxes } from './combobox.js'
import './find.js'
import { pageForm, withOrigin } from './form.js'
import { importForm } from './import.js'
import './inPlace.js'
import { onPage } from './navigate.js'
import { selection } from './select.js'
import { keptViews } from './views.js'

const copy = async (text, source) => {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Pages that were not loaded over HTTPS have no clipboard.
    getSelection().selectAllChildren(source)
    document.execCommand('copy')
  }
}

onPage((root) => {
  for (const button of root.querySelectorAll('[data-copy]')) {
    const source = button.parentElement.querySelector('code')
    source.textContent = withOrigin(source.textContent)
    button.hidden = false
    button.addEventListener('click', async () => {
      await copy(source.textContent, source)
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 1500)
    })
  }
  // On a narrow screen the filters would push the table away, unless one of them says what is wrong.
  const filters = root.querySelector('.filters > details')
  const isNarrow = matchMedia('(max-width: 999px)').matches
  if (filters && root.id !== 'filters' && isNarrow && !filters.querySelector('.issue')) filters.open = false
})

/** Marks a table that continues to the right. */
const markMore = (scroll) => {
  const { scrollLeft, clientWidth, scrollWidth, parentElement } = scroll
  parentElement.toggleAttribute('data-more', scrollLeft + clientWidth < scrollWidth - 4)
}

onPage((root) => {
  for (const scroll of root.querySelectorAll('.frame > .scroll')) {
    scroll.addEventListener('scroll', () => markMore(scroll), { passive: true })
    new ResizeObserver(() => markMore(scroll)).observe(scroll)
  }
})

onPage(comboboxes)
onPage(pageForm)
onPage(importForm)
onPage(editableCells)
onPage(selection)
onPage(keptViews)
onPage(followedTable)
