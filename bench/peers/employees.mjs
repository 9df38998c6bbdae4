// The schemas and columns of an employee, shared by the hand-written peers.

const optional = (type) => ({ type, nullable: true })

export const row = {
  type: 'object',
  required: ['status', 'alumni'],
  properties: {
    id: optional('integer'),
    code: optional('string'),
    first_name: optional('string'),
    last_name: optional('string'),
    email: optional('string'),
    dept_id: optional('integer'),
    designation: optional('string'),
    manager_id: optional('integer'),
    branch: optional('string'),
    status: { type: 'string' },
    date_of_joining: optional('string'),
    gender: optional('string'),
    base_salary: optional('number'),
    candidate_id: optional('integer'),
    employment_type: optional('string'),
    probation_end: optional('string'),
    termination_date: optional('string'),
    alumni: { type: 'integer' },
    password_hash: { type: 'null' },
  },
}

export const page = {
  type: 'object',
  required: ['data', 'meta'],
  properties: {
    data: { type: 'array', items: row },
    meta: {
      type: 'object',
      required: ['total', 'limit', 'offset'],
      properties: { total: { type: 'integer' }, limit: { type: 'integer' }, offset: { type: 'integer' } },
    },
  },
}

export const problem = {
  type: 'object',
  properties: { error: { type: 'object', properties: { code: { type: 'string' }, message: { type: 'string' } } } },
}

export const querystring = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    offset: { type: 'integer', minimum: 0, default: 0 },
  },
}

export const params = { type: 'object', required: ['item_id'], properties: { item_id: { type: 'integer' } } }

/** The password hash is never selected. */
export const columns = Object.keys(row.properties)
  .map((name) => (name === 'password_hash' ? 'null as password_hash' : name))
  .join(', ')
