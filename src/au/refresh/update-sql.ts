// Writes `update.sql`, the script that updates new tokens in the operator's database.

import { newExpiration, type ResultRow } from '../result-codes.ts';

/** The databases for which `update.sql` is written. The script for SQL Server is untested. */
export const SQL_DIALECTS = ['postgres', 'mysql', 'sqlite', 'sqlserver'] as const;

export type SqlDialect = (typeof SQL_DIALECTS)[number];

/** A new token, with the new expiration if the service returned one. */
type NewToken = Pick<ResultRow, 'token' | 'new_token' | 'new_expiration_year' | 'new_expiration_month'>;

/** The parts of a script. */
interface Script {
  readonly head: string;
  readonly row: (cells: readonly (string | undefined)[]) => string;
  readonly foot: string;
}

const ABOUT = `-- Brings the new tokens and dates of a cycle into the table "cards", in its columns token, expiration_year and
-- expiration_month. It is one transaction; running it again changes nothing more. If your table has other names, make a
-- view of them once: CREATE VIEW cards AS SELECT id AS token, exp_y AS expiration_year, exp_m AS expiration_month FROM ...
`;

const REPLACED = 'replaced (token, new_token, new_year, new_month)';

const POSTGRES: Script = {
  head: `${ABOUT}-- psql -Xqf update.sql
\\set ON_ERROR_STOP on
-- Error messages then show no rows.
\\set VERBOSITY terse
BEGIN;
CREATE TEMPORARY TABLE replaced (token text, new_token text, new_year text, new_month text) ON COMMIT DROP;
CREATE TEMPORARY TABLE outcome (said text) ON COMMIT DROP;
COPY ${REPLACED} FROM stdin;
`,
  row: (cells) => `${cells.map((cell) => cell?.replaceAll('\\', '\\\\') ?? '\\N').join('\t')}\n`,
  foot: `\\.
DO $$
DECLARE
  token_type text;
  year_type text;
  month_type text;
  changed bigint;
  known bigint;
BEGIN
  IF EXISTS (SELECT FROM replaced WHERE new_token LIKE 'rehearsal-%') THEN
    RAISE EXCEPTION 'these tokens were invented in a rehearsal; nothing was updated';
  END IF;
  SELECT format_type(atttypid, -1) INTO STRICT token_type
    FROM pg_attribute WHERE attrelid = 'cards'::regclass AND attname = 'token';
  SELECT format_type(atttypid, -1) INTO STRICT year_type
    FROM pg_attribute WHERE attrelid = 'cards'::regclass AND attname = 'expiration_year';
  SELECT format_type(atttypid, -1) INTO STRICT month_type
    FROM pg_attribute WHERE attrelid = 'cards'::regclass AND attname = 'expiration_month';
  EXECUTE format('CREATE TEMPORARY TABLE typed ON COMMIT DROP AS
    SELECT CAST(token AS %1$s) AS token, CAST(new_token AS %1$s) AS new_token, new_year, new_month FROM replaced', token_type);
  IF EXISTS (
    SELECT FROM cards JOIN typed ON cards.token = typed.token GROUP BY typed.token HAVING count(*) > 1
  ) THEN
    RAISE EXCEPTION 'a token matches twice; nothing was updated';
  END IF;
  -- Years keep their two or four digits.
  EXECUTE format('UPDATE cards
    SET token = typed.new_token,
        expiration_year = coalesce(CAST(CASE WHEN length(CAST(cards.expiration_year AS text)) = 4 THEN ''20'' ELSE '''' END
          || new_year AS %s), cards.expiration_year),
        expiration_month = coalesce(CAST(new_month AS %s), cards.expiration_month)
    FROM typed WHERE cards.token = typed.token', year_type, month_type);
  GET DIAGNOSTICS changed = ROW_COUNT;
  SELECT count(*) INTO known FROM typed WHERE EXISTS (SELECT FROM cards WHERE cards.token = typed.new_token);
  INSERT INTO outcome SELECT
    changed || ' updated, ' || known - changed || ' already applied, ' || count(*) - known || ' not found' FROM typed;
END
$$;
SELECT said FROM outcome \\gset
COMMIT;
\\echo :said
`,
};

/** The text of the statements that other databases share. */
function insert(cells: readonly (string | undefined)[]): string {
  const values = cells.map((cell) => (cell === undefined ? 'NULL' : `'${cell.replaceAll("'", "''")}'`));
  return `INSERT INTO ${REPLACED} VALUES (${values.join(', ')});\n`;
}

const TWICE =
  'SELECT replaced.token FROM cards JOIN replaced ON cards.token = replaced.token GROUP BY replaced.token HAVING COUNT(*) > 1';

/** Finds the rows for which nothing may be updated. */
const WRONG = `${TWICE} UNION ALL SELECT token FROM replaced WHERE new_token LIKE 'rehearsal-%'`;

const SQLITE: Script = {
  head: `${ABOUT}-- sqlite3 cards.db < update.sql
.bail on
BEGIN IMMEDIATE;
CREATE TEMPORARY TABLE replaced (token, new_token, new_year, new_month);
`,
  row: insert,
  foot: `CREATE TEMPORARY TABLE checked (a_token_matches_twice_or_is_rehearsed INTEGER CHECK (a_token_matches_twice_or_is_rehearsed = 0));
INSERT INTO checked SELECT COUNT(*) FROM (${WRONG});
UPDATE cards
SET expiration_year = coalesce((SELECT CASE WHEN length(cards.expiration_year) = 4 THEN '20' ELSE '' END || new_year
      FROM replaced WHERE replaced.token = cards.token), expiration_year),
    expiration_month = coalesce((SELECT new_month FROM replaced WHERE replaced.token = cards.token), expiration_month),
    token = (SELECT new_token FROM replaced WHERE replaced.token = cards.token)
WHERE token IN (SELECT token FROM replaced);
SELECT changes() || ' updated';
COMMIT;
`,
};

const MYSQL: Script = {
  head: `${ABOUT}-- mariadb --skip-column-names cards_database < update.sql (or mysql)
SET SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',NO_BACKSLASH_ESCAPES');
CREATE TEMPORARY TABLE replaced (new_year CHAR(2), new_month CHAR(2)) AS SELECT token, token AS new_token FROM cards LIMIT 0;
CREATE TEMPORARY TABLE checked (wrong INT, UNIQUE KEY a_token_matches_twice_or_is_rehearsed (wrong));
START TRANSACTION;
`,
  row: insert,
  foot: `INSERT INTO checked VALUES (1);
INSERT INTO checked SELECT 1 FROM (${WRONG}) AS wrong;
UPDATE cards JOIN replaced ON cards.token = replaced.token
SET cards.expiration_year = COALESCE(CONCAT(IF(CHAR_LENGTH(cards.expiration_year) = 4, '20', ''), new_year), cards.expiration_year),
    cards.expiration_month = COALESCE(new_month, cards.expiration_month),
    cards.token = new_token;
SELECT CONCAT(ROW_COUNT(), ' updated');
COMMIT;
`,
};

const SQLSERVER: Script = {
  head: `${ABOUT}-- sqlcmd -b -i update.sql
SET NOCOUNT, XACT_ABORT ON;
SELECT TOP 0 token, token AS new_token, CAST('' AS varchar(2)) AS new_year, CAST('' AS varchar(2)) AS new_month
INTO #replaced FROM cards;
ALTER TABLE #replaced ALTER COLUMN new_year varchar(2) NULL;
ALTER TABLE #replaced ALTER COLUMN new_month varchar(2) NULL;
BEGIN TRANSACTION;
`,
  row: (cells) => insert(cells).replace('INTO replaced', 'INTO #replaced'),
  foot: `IF EXISTS (${WRONG.replaceAll('replaced', '#replaced')}) THROW 50000, 'a token matches twice, or is rehearsed; nothing was updated', 1;
UPDATE cards
SET token = #replaced.new_token,
    expiration_year = COALESCE(CASE WHEN LEN(cards.expiration_year) = 4 THEN '20' ELSE '' END + #replaced.new_year, cards.expiration_year),
    expiration_month = COALESCE(#replaced.new_month, cards.expiration_month)
FROM cards JOIN #replaced ON cards.token = #replaced.token;
SELECT CONCAT(@@ROWCOUNT, ' updated');
COMMIT;
`,
};

const SCRIPTS: Readonly<Record<SqlDialect, Script>> = {
  postgres: POSTGRES,
  mysql: MYSQL,
  sqlite: SQLITE,
  sqlserver: SQLSERVER,
};

/** The script that brings new tokens into a table of cards, written from its head to its foot. */
export function updateScript(dialect: SqlDialect) {
  const { head, row: rowText, foot } = SCRIPTS[dialect];
  const line = (row: NewToken): string => {
    const { year, month } = newExpiration(row) ?? {};
    return rowText([row.token, row.new_token, year, month]);
  };
  return { head, line, foot };
}
