/** Makes a row of another table in a dialog, without leaving the form that refers to it. */
import { comboboxes } from './combobox.js'
import { bindForm, fetchForm } from './form.js'
import { element } from './write.js'

/** Resolves with the id and the label of the new row; with undefined if the person has left the dialog. */
export const createInPlace = async (url) => {
  const { form, title, message } = await fetchForm(url)
  const heading = element('h2', { id: 'in-place-title', textContent: title })
  const dialog = element('dialog', { className: 'in-place' }, heading, form ?? message)
  dialog.setAttribute('aria-labelledby', heading.id)
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    let row
    const leave = (event) => {
      event.preventDefault()
      dialog.close()
    }
    dialog.querySelector('.actions .button:not(.primary)')?.addEventListener('click', leave)
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(row)
    })
    if (!form) return
    comboboxes(form)
    const finish = async ({ id }) => {
      const choices = new URL(url.replace(/new$/, 'choices'), location.href)
      choices.searchParams.set('q', id)
      const page = new DOMParser().parseFromString(`<ul>${await (await fetch(choices)).text()}</ul>`, 'text/html')
      const found = [...page.querySelectorAll('[data-value]')].find(({ dataset }) => dataset.value === String(id))
      row = { value: String(id), label: found?.dataset.label ?? `#${id}` }
      dialog.close()
    }
    bindForm(form, { url, finish })
  })
}
