import { type AnyRequest, isSamePath, keyTypeOf, queryOf, readEndpointPath } from '../api/any-endpoint.ts';
import { type Context, dryRunParameter } from '../app/command.ts';
import { assigned, jsonAssignment, readJsonBody, textAssignment } from '../app/json-body.ts';
import { argument, choice, flag, type Input, nameValue, repeated, suggesting, text, value } from '../app/parameter.ts';
import { SvcError } from '../errors.ts';
import { containsCardNumber } from '../security/card-number.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export const parameters = {
  method: suggesting(
    () => METHODS.map((method) => [method, '']),
    argument('<method>', 'GET, POST, PUT, PATCH or DELETE', text),
  ),
  path: argument('<path>', 'path below the base URL, such as /logs', text),
  key: choice(
    '--key <kind>',
    'which key is sent; known from the path for logs, tenants, applications, 3ds and account-updater',
    ['management', 'private'],
  ),
  query: repeated('--query <name=value>', 'a parameter of the query; may be repeated', nameValue),
  file: value('--file <json|->', 'the body, from a JSON file or - for standard input; // comments are left out', text),
  set: repeated('--set <a.b=text>', 'put a text into the body; may be repeated', textAssignment),
  setJson: repeated('--set-json <a.b=json>', 'put any JSON into the body; may be repeated', jsonAssignment),
  dryRun: dryRunParameter,
  paginate: flag('--paginate', 'follow the pages of a list to its end and write its items'),
  include: flag('--include', 'show status and headers on stderr, secrets removed'),
} as const;

type ApiInput = Input<typeof parameters>;

/** The request that was typed. All mistakes are found here, before anything is sent. */
export async function toRequest(context: Context, input: ApiInput): Promise<AnyRequest> {
  const method = methodIn(input.method);
  const { path, query } = inPath(() => readEndpointPath(input.path));
  refuseCardNumbers(input);
  if (method === 'DELETE' && isSamePath(path, '/tenants/self')) throw tenantDeletion();
  const key = input.key ?? keyTypeOf(path);
  if (key === undefined) {
    throw new SvcError('usage', `cannot tell which key ${path} needs`, {
      hint: 'Give --key management or --key private.',
    });
  }
  checkOptions(method, input);
  return {
    method,
    path,
    key,
    query: queryOf([...query, ...input.query.map((one) => [one.name, one.value] as const)]),
    body: await bodyOf(context, input),
    whenUnclear: { hint: 'Check the current state before you run it again.', next: ['api', 'GET', path] },
  };
}

function methodIn(typed: string): (typeof METHODS)[number] {
  const method = METHODS.find((known) => known === typed.toUpperCase());
  if (method !== undefined) return method;
  throw new SvcError('usage', `<method> must be one of ${METHODS.join(', ')}`);
}

function inPath<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof SvcError ? new SvcError(error.code, `<path> ${error.message}`) : error;
  }
}

// The command line is seen by other users of the machine and kept in histories. A file or a pipe is not.
function refuseCardNumbers({ path, query, set, setJson }: ApiInput): void {
  const typed = [path, ...query.map((one) => one.value), ...[...set, ...setJson].map((one) => JSON.stringify(one))];
  if (!typed.some((one) => containsCardNumber(one))) return;
  throw new SvcError('refused_input', 'the command line contains what looks like a card number; nothing was sent', {
    hint: 'Command lines are visible to others: put it into the body with --file, from a file or a pipe.',
  });
}

function tenantDeletion(): SvcError {
  return new SvcError('usage', 'deleting the tenant has a command of its own; nothing was sent', {
    hint: 'It asks for the name of the tenant first:',
    next: ['tenant', 'delete'],
  });
}

function checkOptions(method: string, { paginate, file, set, setJson }: ApiInput): void {
  if (paginate && method !== 'GET') throw new SvcError('usage', '--paginate goes with GET only');
  if (method === 'GET' && (file !== undefined || set.length + setJson.length > 0)) {
    throw new SvcError('usage', 'GET takes no body', { hint: 'Give parameters with --query name=value.' });
  }
}

async function bodyOf(context: Context, { file, set, setJson }: ApiInput): Promise<unknown> {
  const base = file === undefined ? undefined : await readJsonBody(context, file);
  const body = assigned(base, [...set, ...setJson]);
  refuseInexact(body);
  return body;
}

/** A number that would arrive as another one is refused: it was cut when it was read. */
function refuseInexact(value: unknown): void {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) refuseInexact(inner);
  }
  if (typeof value !== 'number') return;
  if (Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value))) return;
  throw new SvcError('refused_input', 'the body contains a number that is too large to be sent exactly', {
    hint: 'Write it as a string, in quotes.',
  });
}
