import type { AnyRequest } from '../api/any-endpoint.ts';
import { jsonAssignment, textAssignment } from '../cli/assignment.ts';
import { defineCommand } from '../cli/command.ts';
import type { Context } from '../cli/context.ts';
import { dryRunParameter, Preview } from '../cli/preview.ts';
import { nameValue } from '../cli/name-value.ts';
import { argument, choice, flag, repeated, suggesting, value } from '../cli/parameter.ts';
import { batches } from '../cli/print.ts';
import { printAnswer, printItems } from '../cli/print-answer.ts';
import { text } from '../cli/values.ts';
import type { AnyAnswer } from '../http/any-answer.ts';
import { toRequest } from './api-request.ts';

const parameters = {
  method: suggesting(
    () => ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [method, '']),
    argument('<method>', 'GET, POST, PUT, PATCH or DELETE', text),
  ),
  path: argument('<path>', 'path below the base URL, such as /logs', text),
  key: choice(
    '--key <kind>',
    'which key is sent; known from the path for logs, tenants, applications, 3ds and account-updater',
    ['management', 'private'],
  ),
  query: repeated('--query <name=value>', 'a parameter of the query; may be repeated', nameValue),
  file: value(
    '--file <json|->',
    'the body, from a JSON file or - for standard input; // comments are left out',
    text,
  ),
  set: repeated('--set <a.b=text>', 'put a text into the body; may be repeated', textAssignment),
  setJson: repeated('--set-json <a.b=json>', 'put any JSON into the body; may be repeated', jsonAssignment),
  dryRun: dryRunParameter,
  paginate: flag('--paginate', 'follow the pages of a list to its end and write its items'),
  include: flag('--include', 'show status and headers on stderr, secrets removed'),
} as const;

/** `svc api` */
export const api = defineCommand({
  name: 'api',
  summary: 'any endpoint, with the same keys, retries, limits and paging',
  description:
    'The answer must be JSON or empty. GET is repeated when it fails; other methods only when they surely had no effect.',
  examples: [
    ['svc api GET /logs --query size=5', 'one page as the service sends it'],
    ['svc api GET /account-updater/jobs --paginate --fields id,status', 'all jobs, one a line'],
    ['svc api POST /3ds/sessions --set token_id=5f0c… --set type=customer', 'a body made of texts'],
  ],
  permissions: ['those of the endpoint'],
  exitCodes: [9, 12, 13],
  paged: true,
  fields: ['*'],
  parameters,
  async run(context, input) {
    const request = await toRequest(context, input);
    if (input.dryRun && request.method !== 'GET') return new Preview(request);
    const client = await context.client();
    const onAnswer = (answer: AnyAnswer): void => {
      if (input.include) tellHead(context, answer);
    };
    if (input.paginate) return printItems(context, batches(client.any.pages(request, onAnswer).pages()));
    const answer = await client.any.send(request);
    onAnswer(answer);
    if (answer.body !== undefined) return printAnswer(context, answer.body);
    tellEmpty(context, request, answer);
  },
  request: (context, input) => toRequest(context, input),
});

function tellHead({ notices }: Context, { status, headers }: AnyAnswer): void {
  const lines = headers.map(([name, content]) => `${name}: ${content}`);
  for (const line of [`HTTP ${status}`, ...lines, '']) notices.note(line);
}

function tellEmpty({ notices }: Context, { method, path }: AnyRequest, { status }: AnyAnswer): void {
  notices.note(`${method} ${path}: ${status}, without a body`);
}
