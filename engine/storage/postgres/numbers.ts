/** Numbers as JSON on PostgreSQL: its double precision keeps every number exactly, and prints it here as SQLite does. */

/** The 64 leading bits of a power of ten. */
const leadingBits = (power: number): bigint => {
  const shift = 63 - ((power * 108_853) >> 15)
  const ten = 10n ** BigInt(Math.abs(power))
  if (power < 0) return (1n << BigInt(shift)) / ten
  return shift < 0 ? ten >> BigInt(-shift) : ten << BigInt(shift)
}

/** The powers by which a double of any size becomes an integer of eighteen digits. */
const [least, most] = [-291, 341]
const powers = Array.from({ length: most - least + 1 }, (_, n) => leadingBits(least + n)).join()

/**
 * The function that prints a number. Integers, and fractions of an eighth, need no thought. For the rest it takes SQLite's
 * own steps (sqlite3FpDecode): eighteen digits, of which fewer are kept where they read back as the same number, else
 * seventeen. PostgreSQL's shortest text would read back as well, but it would be other bytes.
 */
export const numberFunction = `create or replace function registry_number(x double precision) returns text
language plpgsql immutable strict parallel safe as $$
declare
  size double precision := abs(x);
  sign text := case when x < 0 then '-' else '' end;
  bits bigint;
  mantissa numeric;
  exponent int;
  power int;
  whole numeric;
  digits text;
  point int;
  cut int;
  shorter text;
  kept int := 17;
begin
  if size < 9223372036854775808 and x = trunc(x) then return x::bigint; end if;
  if size < 1e9 then
    if size * 8 = trunc(size * 8) then return x; end if;
  end if;
  if x = 'NaN' then return null; end if;
  if size = 'Infinity' then return sign || '9.0e+999'; end if;

  bits := ('x' || encode(float8send(size), 'hex'))::bit(64)::bigint;
  mantissa := bits & 4503599627370495;
  exponent := (bits >> 52)::int - 1086;
  if exponent = -1086 then
    cut := 64 - length(ltrim(bits::bit(64)::text, '0'));
    mantissa := mantissa * 2::numeric ^ cut;
    exponent := -1074 - cut;
  else
    mantissa := (mantissa + 4503599627370496) * 2048;
  end if;
  power := 17 - (((exponent + 63) * 78913) >> 18);
  whole := div(
    mantissa * ('{${powers}}'::numeric[])[power + ${1 - least}],
    18446744073709551616 * 2::numeric ^ (-(exponent + ((power * 108853) >> 15) + 2)));
  digits := div(whole + 2 * mod(whole, 2), 2);
  point := length(digits) - power;

  if size > 1.7976931348623e308 then
    shorter := null;
  elsif substr(digits, 15, 2) = '99' then
    cut := length(rtrim(left(digits, 14), '9'));
    shorter := case cut when 0 then 1 else left(digits, cut)::bigint + 1 end;
  elsif point >= length(digits) or substr(digits, 14, 3) = '000' then
    cut := length(rtrim(left(digits, 13), '0'));
    shorter := left(digits, cut);
  end if;
  if (shorter || 'e' || (point - cut))::double precision = size then kept := cut + 1; end if;
  whole := left(digits, kept)::numeric + case when substr(digits, kept + 1, 1) >= '5' then 1 else 0 end;
  point := point + length(whole::text) - kept;
  digits := rtrim(whole::text, '0');

  if point between -3 and 0 then return sign || '0.' || repeat('0', -point) || digits; end if;
  if point between 1 and 17 then return sign || left(digits, point) || '.' || substr(digits, point + 1); end if;
  return sign || left(digits, 1) || '.' || coalesce(nullif(substr(digits, 2), ''), '0') || 'e'
    || to_char(point - 1, case when abs(point - 1) < 100 then 'SG00' else 'SG000' end);
end $$`
