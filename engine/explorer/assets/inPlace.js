/** Makes a row of another table in a dialog, without leaving the form that refers to it. */
import { setValue } from './combobox.js'
import { formWithin } from './form.js'
import { element, toast } from './messages.js'

document.addEventListener('createrow', async ({ target: input, detail: { url, noun } }) => {
  const heading = element('h2', { id: 'in-place-title', textContent: `New ${noun}` })
  const dialog = element('dialog', { className: 'in-place' }, heading)
  dialog.setAttribute('aria-labelledby', heading.id)
  dialog.addEventListener('close', () => {
    dialog.remove()
    input.focus()
  })
  document.body.append(dialog)
  dialog.showModal()
  const reason = await formWithin(url, {
    put(form) {
      dialog.replaceChildren(heading, form)
      form.querySelector('.actions .button')?.addEventListener('click', (event) => {
        event.preventDefault()
        dialog.close()
      })
    },
    finish({ dataset: { id, label } }) {
      dialog.close()
      setValue(input, id, label)
    },
  })
  if (!reason) return
  dialog.close()
  toast(reason)
})
