/** Starts Swagger UI. A file, because the policy of the page forbids inline scripts. */

/** Gives controls the names that Swagger UI leaves out, and takes the links out of its buttons, which may contain none. */
const accessibility = ({ React: { createElement } }) => {
  /** Code that scrolls can be reached with the keyboard. */
  const focusable = (Code) => (props) => {
    const ref = (node) => {
      for (const code of node?.querySelectorAll('pre') ?? []) code.tabIndex = 0
    }
    return createElement('div', { ref }, createElement(Code, props))
  }
  return {
    components: { DeepLink: ({ text }) => createElement('span', null, text) },
    wrapComponents: {
      TextArea: (TextArea) => (props) => createElement(TextArea, { ...props, 'aria-label': 'Request body' }),
      HighlightCode: focusable,
      RequestSnippets: focusable,
      // The text is the name.
      Button:
        (Button) =>
        ({ 'aria-label': label, ...props }) =>
          createElement(Button, typeof props.children === 'string' ? props : { ...props, 'aria-label': label }),
      CloseIcon: () => () => createElement('span', { role: 'img', 'aria-label': 'Close' }, '✕'),
    },
  }
}

/** Shows the default of a parameter with its bounds, also when the field has another value, and names its list of values. */
const defaults = ({ React: { createElement } }) => ({
  wrapComponents: {
    JsonSchemaForm: (Form) => (props) => {
      const ref = (node) => node?.querySelector('select')?.setAttribute('aria-label', props.description)
      const value = props.schema?.get('default')
      const shown = createElement('div', { className: 'parameter__extension' }, `default: ${value}`)
      return createElement('div', { ref }, createElement(Form, props), value !== undefined && shown)
    },
  },
})

const phone = matchMedia('(max-width: 700px)')

/** Closes what few people need, so that an operation fits two screens: errors, headers, and on a phone optional parameters. */
const closed = ({ React: { createElement, useState } }) => {
  /** A row that is a button until it is opened; then the focus moves into it. */
  const closedRow = (isOpenAtFirst, cellsOf) => (Row) => (props) => {
    const [isOpen, setOpen] = useState(() => isOpenAtFirst(props))
    if (isOpen) return createElement(Row, props)
    const onClick = ({ currentTarget }) => {
      const row = currentTarget.closest('tr')
      const [rows, place] = [row.parentElement.children, row.sectionRowIndex]
      setOpen(true)
      setTimeout(() => rows[place].querySelector('input, select, button')?.focus())
    }
    const toggle = (text) =>
      createElement('button', { type: 'button', className: 'toggle', 'aria-expanded': false, onClick }, text)
    return createElement('tr', { className: 'response closed' }, ...cellsOf(props, toggle))
  }
  const cell = (name, content) => createElement('td', { className: name }, content)
  return {
    wrapComponents: {
      response: closedRow(
        ({ code }) => code.startsWith('2'),
        ({ code, response }, toggle) => [
          cell('response-col_status', code),
          cell('response-col_description', toggle(response.get('description').replaceAll('`', ''))),
        ],
      ),
      parameterRow: closedRow(
        ({ rawParam }) => !phone.matches || rawParam.get('required'),
        ({ rawParam }, toggle) => [cell('parameter__name', toggle(rawParam.get('name')))],
      ),
      headers: (Headers) => (props) =>
        createElement('details', null, createElement('summary', null, 'Headers'), createElement(Headers, props)),
    },
  }
}

const loading = document.getElementById('loading')

/** Swagger UI leaves out the second level of headings, and its tabs have the colours of a dark page. What it shows replaces the message that it loads. */
const onChange = () => {
  if (docs.querySelector('.info, .errors-wrapper')) loading.hidden = true
  for (const one of docs.querySelectorAll('.curl-command [style]')) one.removeAttribute('style')
  for (const heading of docs.querySelectorAll('h3, h4, h5')) heading.ariaLevel = Number(heading.localName[1]) - 1
}

/** Shows the paths with the base path, which Swagger UI has in the list of servers only. */
const withBasePath = (response) => {
  if (!response.url.endsWith(docs.dataset.url)) return response
  const { servers, paths, ...spec } = JSON.parse(response.text)
  const joined = Object.entries(paths).map(([path, item]) => [servers[0].url + path, item])
  return { ...response, text: JSON.stringify({ ...spec, servers: [{ url: '/' }], paths: Object.fromEntries(joined) }) }
}

const docs = document.getElementById('docs')
new MutationObserver(onChange).observe(docs, { childList: true, subtree: true })
if (!window.SwaggerUIBundle) loading.textContent = 'The docs could not be loaded. Reload the page to try again.'
const ui = window.SwaggerUIBundle({
  url: docs.dataset.url,
  domNode: docs,
  responseInterceptor: withBasePath,
  plugins: [accessibility, defaults, closed],
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelExpandDepth: 2,
  defaultModelsExpandDepth: 0,
  filter: true,
  requestSnippetsEnabled: true,
  showCommonExtensions: true,
  // Its themes are for a dark or for a light page.
  syntaxHighlight: false,
  tryItOutEnabled: true,
  persistAuthorization: false,
  validatorUrl: null,
})
// Only the address that a page begins with is read otherwise.
addEventListener('hashchange', () => ui.layoutActions.parseDeepLinkHash(location.hash))
