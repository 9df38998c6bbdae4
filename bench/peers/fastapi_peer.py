"""The Python peer: FastAPI over the sqlite3 module with pydantic response models, served by one uvicorn worker."""

import os
import sqlite3
from pathlib import Path
from typing import List, Optional

import uvicorn
from fastapi import FastAPI, HTTPException, Query
from pydantic import BaseModel


class Employee(BaseModel):
    id: Optional[int]
    code: Optional[str]
    first_name: Optional[str]
    last_name: Optional[str]
    email: Optional[str]
    dept_id: Optional[int]
    designation: Optional[str]
    manager_id: Optional[int]
    branch: Optional[str]
    status: str
    date_of_joining: Optional[str]
    gender: Optional[str]
    base_salary: Optional[float]
    candidate_id: Optional[int]
    employment_type: Optional[str]
    probation_end: Optional[str]
    termination_date: Optional[str]
    alumni: int
    password_hash: Optional[str]


class PaginationMeta(BaseModel):
    total: int
    limit: int
    offset: int


class EmployeePage(BaseModel):
    data: List[Employee]
    meta: PaginationMeta


COLUMNS = ', '.join('null as password_hash' if name == 'password_hash' else name for name in Employee.__fields__)
SELECT_PAGE = f'select {COLUMNS} from employees order by id limit ? offset ?'
SELECT_ROW = f'select {COLUMNS} from employees where id = ?'
SELECT_TOTAL = 'select count(*) from employees'

address = Path(os.environ['DATABASE']).resolve().as_uri() + '?mode=ro'
connection = sqlite3.connect(address, uri=True, check_same_thread=False)
connection.row_factory = sqlite3.Row

app = FastAPI(openapi_url=None)


# Coroutines: a query takes microseconds, so a thread per request would cost more than it saves.
@app.get('/api/v1/employees', response_model=EmployeePage)
async def list_employees(limit: int = Query(50, ge=1, le=200), offset: int = Query(0, ge=0)):
    rows = connection.execute(SELECT_PAGE, (limit, offset)).fetchall()
    total = connection.execute(SELECT_TOTAL).fetchone()[0]
    return {'data': [dict(row) for row in rows], 'meta': {'total': total, 'limit': limit, 'offset': offset}}


@app.get('/api/v1/employees/{item_id}', response_model=Employee)
async def get_employee(item_id: int):
    row = connection.execute(SELECT_ROW, (item_id,)).fetchone()
    if row is None:
        raise HTTPException(404, 'There is no such employee.')
    return dict(row)


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        if self.started:
            print('listening', flush=True)


if __name__ == '__main__':
    Server(
        uvicorn.Config(app, host='127.0.0.1', port=int(os.environ['PORT']), access_log=False, log_level='warning')
    ).run()
    connection.close()
