/** The script of every page. Without it all pages but the forms work. */
import { comboboxes } from './combobox.js'
import './find.js'
import { writeForm } from './form.js'
import { importForm } from './importForm.js'
import { onPage } from './navigate.js'
import { operationForm } from './operation.js'

/** Behind a proxy, only the browser knows the address that it used. */
const fixOrigin = (text) => text.replace(/'https?:\/\/[^/']+/, `'${location.origin}`)

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
    source.textContent = fixOrigin(source.textContent)
    button.hidden = false
    button.addEventListener('click', async () => {
      await copy(source.textContent, source)
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 1500)
    })
  }
  // On a narrow screen the filters would push the table away.
  const filters = root.querySelector('.filters > details')
  if (filters && root.id !== 'filters' && matchMedia('(max-width: 999px)').matches) filters.open = false
})

onPage(comboboxes)
onPage(writeForm)
onPage(operationForm)
onPage(importForm)
