/** The form of an import: a file that is chosen or dropped is checked at once. */

export const importForm = (root) => {
  const form = root.querySelector('form[data-import]')
  if (!form) return
  const [file, pasted, drop] = ['#file', '#text', '.drop'].map((place) => form.querySelector(place))
  // What was checked is no longer what would be sent.
  form.addEventListener('input', () => {
    form.querySelector('#result')?.remove()
    form.querySelector('.submit').classList.add('primary')
  })
  file.addEventListener('change', () => {
    pasted.value = ''
    if (file.files[0]) form.requestSubmit()
  })
  for (const name of ['dragover', 'dragleave', 'drop'])
    form.addEventListener(name, (event) => {
      event.preventDefault()
      drop.classList.toggle('over', name === 'dragover')
    })
  form.addEventListener('drop', ({ dataTransfer: { files } }) => {
    if (files.length === 0) return
    file.files = files
    for (const name of ['input', 'change']) file.dispatchEvent(new Event(name, { bubbles: true }))
  })
}
