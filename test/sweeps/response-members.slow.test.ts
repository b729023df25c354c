import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openQuickDesk } from '../au/commands/support.ts';
import { IS_SOAK } from '../support/cases.ts';
import { FaultServer } from '../support/fault-server.ts';
import { json } from '../support/fault-steps.ts';
import { interfaceExample, INTERFACE_EXAMPLES } from '../support/interface.ts';
import { type HereResult, svcHere } from '../support/run-here.ts';
import { temporaryDirectory } from '../support/directory.ts';

const ID = '5f0c4b3a-2918-4706-95e4-d3c2b1a09f8e';

/** The commands that read each response. The first of them prints all of it with `-o json`. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  '3ds-authenticate': [`3ds authenticate ${ID} --file request.json --again --yes`],
  '3ds-challenge-result': [`3ds challenge-result ${ID}`, `3ds challenge-result ${ID} --wait`],
  '3ds-create': ['3ds create --token 5 --type customer'],
  '3ds-read': [`3ds show ${ID}`, `3ds authenticate ${ID} --file request.json --again --yes`],
  applications: ['api GET /applications', 'logs -n 2 -o table'],
  'entity-types': ['logs entity-types'],
  'job-create': ['au create'],
  'job-list': ['au jobs', 'au jobs --status completed', 'au jobs --since 2026-01-01'],
  'job-read': [`au status ${ID}`, `au resume ${ID} --wait --timeout 20s`],
  logs: ['logs -n 2', 'logs stats --since 2026-01-01', 'logs history card 1', 'logs archive to --since 2026-03-01'],
  'tenant-read': ['tenant show', 'tenant export', 'tenant diff same.json', 'tenant update --name Other --yes'],
  'tenant-update': ['tenant update --name Other --yes'],
  usage: ['tenant usage', 'tenant usage -o csv', 'tenant usage -o table'],
};

/** Responses that no command reads in their shape: a program sends the event, and svc receives it. */
const NOT_READ = ['webhook'];

/** The members that decisions read: these must have their documented type. */
const DECISIVE: Readonly<Record<string, readonly string[]>> = {
  '3ds-authenticate': ['authentication_status'],
  '3ds-challenge-result': ['authentication_status'],
  '3ds-create': ['id'],
  '3ds-read': ['id', 'tenant_id', 'authentication', 'authentication.authentication_status'],
  'job-create': ['id', 'tenant_id', 'status', 'created_at', 'expires_at', 'upload_url'],
  'job-list': ['data', 'pagination', 'pagination.next'],
  'job-read': ['id', 'tenant_id', 'status', 'created_at', 'download_url'],
  logs: ['data', 'pagination', 'pagination.next'],
  'tenant-read': ['id'],
  'tenant-update': ['id'],
  usage: ['token_report'],
};

/** Members that may have any type. */
const FREE = /(?:challenge_attempts|sdk_ephemeral_public_key(?:\.kty)?|message_extensions\.data)$/;

/** Addresses that every output hides. */
const SECRET = /(?:upload|download)_url$/;

type Path = (string | number)[];

/** Returns the path of every member of a value. Of a list, the members of the last item stand for all. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : pathsOf(value.at(-1), [...path, value.length - 1]);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const own = path.concat(name);
    return [own].concat(pathsOf(member, own));
  });
}

/** Returns a copy of a value with another member, or without it. */
function changed(value: unknown, [name, ...rest]: Path, member: unknown): unknown {
  if (name === undefined) return member;
  const copy: unknown = structuredClone(value);
  if (typeof copy !== 'object' || copy === null) return copy;
  Reflect.set(copy, name, changed(Reflect.get(copy, name), rest, member));
  return copy;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );
}

function otherType(value: unknown): unknown {
  if (typeof value === 'string') return 42;
  if (typeof value === 'number') return 'many';
  if (typeof value === 'boolean') return 'yes';
  return 7;
}

/** The path without the positions of items, as a warning names it. */
function named(path: Path): string {
  return path.filter((part) => typeof part === 'string').join('.');
}

/** A service that sends the examples of the interface, with one body replaced. */
class Service {
  name = '';
  body: unknown;

  async start(): Promise<FaultServer> {
    return FaultServer.start(({ method, path: target }) => {
      const path = target.split('?')[0]?.replace(ID, '{id}');
      const found = [...INTERFACE_EXAMPLES].find(([, other]) => other.method === method && other.path === path);
      if (found === undefined) return json({}, 404);
      const [name, { body, status }] = found;
      return json(lastPage(name === this.name ? this.body : body), status);
    });
  }
}

/** Removes a documented cursor, so that each list has one page. */
function lastPage(body: unknown): unknown {
  const next = valueAt(body, ['pagination', 'next']);
  return typeof next === 'string' ? changed(body, ['pagination', 'next'], null) : body;
}

const service = new Service();
let server: FaultServer;

beforeAll(async () => {
  server = await service.start();
  return () => server.close();
});

async function run(command: string): Promise<HereResult> {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'request.json'), JSON.stringify(interfaceExample('3ds-authenticate').request));
  writeFileSync(join(cwd, 'same.json'), '{"settings":{"deduplicate_tokens":"true"}}');
  const words = command.split(' ');
  return svcHere(words.includes('-o') || words.includes('archive') ? words : [...words, '-o', 'json'], {
    baseUrl: server.url,
    cwd,
  });
}

const CASES = Object.entries(READERS).flatMap(([name, commands]) =>
  commands.map((command) => [name, command] as const),
);

describe('R88: a member of a response that no decision reads', () => {
  it('every response of the interface has its commands here', () => {
    expect([...Object.keys(READERS), ...NOT_READ].toSorted()).toEqual([...INTERFACE_EXAMPLES.keys()].toSorted());
  });

  it.each(CASES)('R88: costs nothing when it is null, of another type or absent: %s, svc %s', async (name, command) => {
    service.name = name;
    const { body } = interfaceExample(name);
    service.body = body;
    const usual = await run(command);
    const isShown = command === READERS[name]?.[0];
    for (const [turn, path] of pathsOf(body).entries()) {
      const member = named(path);
      const isDecisive = DECISIVE[name]?.includes(member) === true;
      const values = [null, otherType(valueAt(body, path)), undefined];
      // The shape of a response is the same for each of its readers: the others get one of the values by turns.
      for (const sent of isShown || IS_SOAK ? values : [values[turn % values.length]]) {
        service.body = changed(body, path, sent);
        const what = `${member}: ${JSON.stringify(sent)}`;
        const { code, stdout, stderr } = await run(command);
        expect(code, `${what}\n${stderr}`).not.toBe(1);
        if (isDecisive || changesOutcome(command, member)) continue;
        expect(code, `${what}\n${stderr}`).toBe(usual.code);
        if (!isShown || sent === null || sent === undefined) continue;
        const at = path[0] === 'data' && path.length > 1 && !command.startsWith('api') ? path.slice(1) : path;
        const shown = JSON.parse(stdout) as unknown;
        const expected = SECRET.test(member) ? '(hidden)' : sent;
        expect(path[0] === 'pagination' ? sent : valueAt(shown, at), what).toEqual(expected);
        const isFree = command.startsWith('api') || FREE.test(member);
        expect(stderr.match(/types? than documented/g) ?? [], `${what}\n${stderr}`).toHaveLength(isFree ? 0 : 1);
      }
    }
  });

  it.each(Object.entries(DECISIVE))('R88: stops the command only if a decision reads it: %s', async (name, members) => {
    service.name = name;
    const { body } = interfaceExample(name);
    for (const path of pathsOf(body).filter((each) => members.includes(named(each)))) {
      service.body = changed(body, path, otherType(valueAt(body, path)));
      const { code, stderr } = await run(READERS[name]?.[0] ?? '');
      expect([8, 9], `${named(path)}\n${stderr}`).toContain(code);
      expect(stderr).toContain(path.at(-1));
    }
  });
});

/** Whether a command prints or exits by this member, so that another value has another outcome. */
function changesOutcome(command: string, member: string): boolean {
  if (command.startsWith('tenant update')) return ['name', 'settings'].includes(member);
  if (command.startsWith('tenant diff')) return member.startsWith('settings');
  return command.endsWith('--wait --timeout 20s') && member === 'errors';
}

describe('R88: a job of another system in the list', () => {
  it('R88: stops no submission, whichever of its members is null, of another type or absent', async () => {
    const listed = valueAt(interfaceExample('job-list').body, ['data', 1]) as object;
    let job: unknown;
    const desk = await openQuickDesk({
      intercept: (incoming, outgoing, proceed) => {
        if (incoming.method !== 'GET' || !/\/account-updater\/jobs(?:\?|$)/.test(incoming.url ?? '')) return proceed();
        outgoing.writeHead(200, { 'content-type': 'application/json' });
        outgoing.end(JSON.stringify({ pagination: { next: null }, data: [job] }));
      },
    });
    const { tenant_id } = JSON.parse((await desk.svc('au create -o json')).stdout) as { tenant_id: string };
    const other = { ...listed, tenant_id, created_by: 'another', created_at: '2099-01-01T00:00:00Z' };
    let submitted = 0;
    for (const path of [[], ...pathsOf(other)]) {
      for (const sent of [null, path.length === 0 ? 7 : otherType(valueAt(other, path)), undefined]) {
        job = changed(other, path, sent);
        const { code, stderr } = await desk.svc(`au submit tokens.csv --cycle ${submitted} --pay-again --new-ledger`);
        expect(code, `${named(path)}: ${JSON.stringify(sent)}\n${stderr}`).toBe(0);
        submitted += 1;
        expect(desk.uploads()).toBe(submitted);
        const isUnclear = ['', 'created_by'].includes(named(path));
        expect(
          stderr.includes('that the ledger does not know'),
          `${named(path)}: ${JSON.stringify(sent)}\n${stderr}`,
        ).toBe(isUnclear);
      }
    }
  });
});
