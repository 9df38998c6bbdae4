/** Messages of what was done, with a button that undoes it. */

export const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** Shows a message over the page for a while; what is on the page does not move. */
export const toast = (...content) => {
  document.querySelector('.toast')?.remove()
  const shown = element('div', { className: 'toast', role: 'status' }, element('span', {}, ...content))
  const close = element('button', { type: 'button', ariaLabel: 'Close', textContent: '×' })
  close.addEventListener('click', () => shown.remove())
  shown.append(close)
  document.body.append(shown)
  setTimeout(() => shown.remove(), 60_000)
}

/** How long a change can be undone, in milliseconds. */
const undoMs = 60_000

/** Makes the button of a message work that undoes the change; `refresh` shows what is stored then. */
export const bindUndo = (message, refresh) => {
  const button = message.querySelector('.undo')
  if (!button) return
  setTimeout(() => button.remove(), undoMs)
  button.addEventListener('click', async () => {
    button.disabled = true
    const headers = { 'Content-Type': 'application/json' }
    try {
      const response = await fetch(button.dataset.url, { method: 'POST', headers, body: button.dataset.body })
      const { error } = await response.json()
      button.remove()
      const isOther = response.status === 412 || response.status === 404
      if (!response.ok) return toast(`Not undone. ${isOther ? 'Somebody else has changed it since.' : error.message}`)
      await refresh()
      toast('Undone.')
    } catch {
      button.disabled = false
      toast('The service did not answer. Try again.')
    }
  })
}
