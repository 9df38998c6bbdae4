-- Distributes the tables of the service over a Citus cluster, in one transaction:
--
--   psql "$DATABASE_URL" -v distribute='leave_requests attendance' -f deploy/citus.sql
--
-- The tables that are named are distributed by id, and all others become reference tables, of which every node has a copy.
-- Run it again after a resource was added: what is distributed stays so.
--
-- Citus distributes a table with an identity column only while it has no foreign key, so this saves the foreign keys, drops them, changes the
-- tables, and puts the keys back. It locks the tables and copies their rows: stop the service meanwhile. Start it with DERIVED_OBJECTS=false.
-- Citus takes no such table back; docs/postgres.md says how to return.
\set ON_ERROR_STOP on
\set QUIET on
\if :{?distribute} \else \set distribute '' \endif
begin;
set local client_min_messages to warning;
-- Foreign keys to reference tables need their changes one after another.
set local citus.multi_shard_modify_mode to 'sequential';
select set_config('registry.distribute', :'distribute', true) \gset
do $$
declare
  wanted constant text[] := array_remove(regexp_split_to_array(current_setting('registry.distribute'), '[\s,]+'), '');
  tables regclass[];
  keys text[];
  found record;
begin
  if cardinality(wanted) = 0 then
    raise exception 'Name the tables to distribute: psql -v distribute=''leave_requests attendance'' …';
  end if;
  if exists (select from pg_trigger where tgname like 'registry\_%' and tgrelid in (select oid from pg_class where relnamespace = current_schema()::regnamespace)) then
    raise exception 'The tables have triggers, which Citus does not support.'
      using hint = 'Start the service once with DERIVED_OBJECTS=false, or run npm run migrate with it.';
  end if;
  -- The tables of the service, by their comments or by the names of their keys and indexes.
  tables := array(
    select oid::regclass from pg_class as one where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname not like 'registry\_%'
      and (obj_description(oid, 'pg_class') like 'Made by the service%'
        or exists (select from pg_constraint where one.oid in (conrelid, confrelid) and contype = 'f' and conname like 'registry\_%')
        or exists (select from pg_index join pg_class as index on index.oid = indexrelid where indrelid = one.oid and index.relname like 'registry\_%'))
    order by relname);
  for found in select name from unnest(wanted) as name where not coalesce(to_regclass(quote_ident(name)) = any(tables), false) loop
    raise exception 'There is no table "%" of the service in the schema %.', found.name, current_schema();
  end loop;
  for found in select indrelid::regclass as name, pg_get_indexdef(indexrelid) as sql from pg_index
      where indisunique and not indisprimary and indrelid in (select quote_ident(name)::regclass from unnest(wanted) as name) loop
    raise exception 'The table % cannot be distributed: it has a unique key without the column id (%).', found.name, found.sql
      using hint = 'Tables with unique fields can only be reference tables.';
  end loop;
  for found in select confrelid::regclass as target, conrelid::regclass as source from pg_constraint
      where contype = 'f' and conrelid = any(tables) and confrelid in (select quote_ident(name)::regclass from unnest(wanted) as name) loop
    raise exception 'The table % cannot be distributed: % references it.', found.target, found.source
      using hint = 'Tables that others reference can only be reference tables.';
  end loop;

  for found in select logicalrelid as name from pg_dist_partition
      where partmethod <> 'h' and logicalrelid in (select quote_ident(name)::regclass from unnest(wanted) as name) loop
    raise exception 'The table % cannot be distributed: it is a reference table or a local table of Citus, which takes no table with an identity column back.', found.name
      using hint = 'Copy the rows to a new database with npm run copy, and distribute them there.';
  end loop;

  -- Otherwise the drop of a foreign key would undo what an earlier one has made a table of Citus.
  perform citus_add_local_table_to_metadata(logicalrelid, true) from pg_dist_partition
    where logicalrelid = any(tables) and partmethod = 'n' and repmodel = 's';
  keys := array(
    select format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
    where contype = 'f' and conrelid = any(tables) order by conrelid::regclass::text, conname);
  for found in select conrelid::regclass as name, conname from pg_constraint where contype = 'f' and conrelid = any(tables) loop
    execute format('alter table %s drop constraint %I', found.name, found.conname);
  end loop;
  for found in select relname as name from pg_class where oid = any(tables) order by 1 loop
    if found.name = any(wanted) then
      perform create_distributed_table(quote_ident(found.name), 'id')
        where not exists (select from pg_dist_partition where logicalrelid = quote_ident(found.name)::regclass);
    else
      perform create_reference_table(quote_ident(found.name))
        where not exists (select from pg_dist_partition where logicalrelid = quote_ident(found.name)::regclass and (partmethod, repmodel) <> ('n', 's'));
    end if;
  end loop;
  for found in select sql from unnest(keys) as sql loop
    execute found.sql;
  end loop;
end $$;
commit;
select relname as table, case when partmethod = 'h' then 'distributed by id' when repmodel = 't' then 'on every node' else 'on the coordinator' end as "where"
  from pg_class left join pg_dist_partition on logicalrelid = pg_class.oid
  where relkind = 'r' and relnamespace = current_schema()::regnamespace order by 1;
