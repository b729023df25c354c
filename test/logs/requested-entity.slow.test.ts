import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../support/clock.ts';
import { errorIn, svcHere } from '../support/run-here.ts';
import { buildArchive } from './archive/build.ts';
import { logAgo, type LogServer, startLogServer } from './commands/log-server.ts';
import { temporaryDirectory } from '../support/directory.ts';

const NIGHTLY = '4707c78a-ef35-487e-a67c-cc101d1d4c49';
const TWIN = '4707c78a-0000-4000-8000-000000000001';
const PERSON = 'b1a0f1a3-0d2f-4f7e-9d1c-0a4f6c7f2f11';
const CARD = '3a04dacf-51c2-4a0e-8d7a-6f4a7b8c9d10';
const OTHER_CARD = '3a04dacf-0000-4000-8000-000000000002';

let server: LogServer;
let home: string;
let asked: number;

beforeEach(async () => {
  home = temporaryDirectory();
  server = await startLogServer();
  asked = 0;
  const card = { tenant_id: 't-1', entity_type: 'card', entity_id: CARD };
  server.logs.push(
    logAgo(3_000, 'by the application', { ...card, actor_id: NIGHTLY }),
    logAgo(2_000, 'by a person', { ...card, actor_id: PERSON }),
    logAgo(1_000, 'by nobody', { ...card, entity_id: 'order-2026-77' }),
  );
  answer([{ id: NIGHTLY, name: 'Nightly refresh' }]);
});

function answer(found: readonly unknown[] | number): void {
  server.onApplications = () => {
    asked += 1;
    return found;
  };
}

function svc(...argv: string[]) {
  return svcHere(['logs', ...argv], {
    baseUrl: new URL(server.url),
    home,
    env: { SVC_PACING: 'off' },
    clock: new FakeClock({ start: Date.now() }),
  });
}

const COMMANDS = {
  list: ['list'],
  tail: ['tail', '--last', '10'],
  stats: ['stats', '--since', '1h', '-o', 'jsonl'],
} as const;

/** Returns the number of entries that a command found. */
function countIn(stdout: string): number {
  const rows = stdout.split('\n').filter((line) => line !== '');
  const first = JSON.parse(rows[0] ?? '{}') as { by?: string; count?: number };
  return first.by === 'all' ? Number(first.count) : rows.length;
}

describe('--actor', () => {
  it.each(Object.keys(COMMANDS) as (keyof typeof COMMANDS)[])(
    'R78: svc logs %s accepts the id, the beginning of the id or the name of an actor, and reads the logs once',
    async (command) => {
      const others = [NIGHTLY, NIGHTLY.toUpperCase(), '4707c78a', 'b1a0f1a3-0'];
      // Stats and tail read up to the present, which takes more requests.
      for (const typed of ['4707c7', 'nightly REFRESH', ...(command === 'list' ? others : [])]) {
        const { code, stdout, stderr } = await svc(...COMMANDS[command], '--actor', typed);
        expect([typed, code, stderr.includes('error')]).toEqual([typed, 0, false]);
        expect([typed, countIn(stdout)]).toEqual([typed, 1]);
      }
    },
  );

  it.each(Object.keys(COMMANDS) as (keyof typeof COMMANDS)[])(
    'R78: svc logs %s refuses an unknown actor with the candidates, before it reads an entry',
    async (command) => {
      for (const typed of ['Nightly', '4707c', 'nobody']) {
        const lists = server.requests;
        const refused = await svc(...COMMANDS[command], '--actor', typed);
        expect([typed, refused.code, refused.stdout]).toEqual([typed, 2, '']);
        expect(errorIn(refused)).toMatchObject({
          hint: expect.stringContaining(`Nightly refresh (${NIGHTLY})`),
          candidates: [NIGHTLY],
        });
        expect(server.requests).toBe(lists + 1);
      }
    },
  );

  it('R78: the beginning of an id or a name that two actors share is refused with both', async () => {
    answer([
      { id: NIGHTLY, name: 'Twin' },
      { id: TWIN, name: 'Twin' },
    ]);
    const named = await svc('list', '--actor', 'Twin');
    expect([named.code, errorIn(named)['candidates']]).toEqual([2, [NIGHTLY, TWIN]]);
    server.logs.push(logAgo(500, 'by the twin', { tenant_id: 't-1', actor_id: TWIN }));
    const begun = await svc('list', '--actor', '4707c78a');
    expect([begun.code, errorIn(begun)['candidates']]).toEqual([2, [TWIN, NIGHTLY]]);
  });

  it('R78: a name of an actor that cannot be looked up is refused with the reason', async () => {
    answer(403);
    const { code, stderr } = await svc('list', '--actor', 'Nightly refresh');
    expect(code).toBe(2);
    expect(stderr).toContain('could not be read');
    expect((await svc('list', '--actor', '4707c78a')).code).toBe(0);
    expect(asked).toBe(1);
  });

  it('R78: an actor is accepted as tables show it', async () => {
    for (const typed of [`user ${PERSON.slice(0, 8)}`, `Nightly refresh (${NIGHTLY.slice(0, 8)})`]) {
      const { code, stdout } = await svc('list', '--actor', typed);
      expect([code, countIn(stdout)]).toEqual([0, 1]);
    }
  });

  it('R78: a complete id of no known actor finds nothing and is no error', async () => {
    const { code, stdout } = await svc('list', '--actor', TWIN);
    expect([code, stdout]).toEqual([0, '']);
  });
});

describe('an entity id', () => {
  it.each([['list', '--entity-id'], ['tail', '--last', '10', '--entity-id'], ['stats', '--entity-id'], ['history']])(
    'R78: the beginning of an entity id that only one entity read has stands for it in svc logs %s, which says so',
    async (...words) => {
      const { code, stdout, stderr } = await svc(...words, '3a04dacf');
      expect([code, countIn(stdout)]).toEqual([0, 2]);
      expect(stderr).toContain(`3a04dacf is ${CARD}`);
    },
  );

  it.each([['list', '--entity-id'], ['stats', '--entity-id'], ['history']])(
    'R78: the beginning of an entity id that several entities read have ends svc logs %s with these ids and nothing else',
    async (...words) => {
      server.logs.push(logAgo(4_000, 'another', { tenant_id: 't-1', entity_type: 'card', entity_id: OTHER_CARD }));
      const refused = await svc(...words, '3a04dacf');
      expect([refused.code, refused.stdout]).toEqual([2, '']);
      expect(errorIn(refused)['near']).toEqual(expect.arrayContaining([CARD, OTHER_CARD]));
      const { code, stdout } = await svc(...words, '3a04dacf-5');
      expect([code, countIn(stdout)]).toEqual([0, 2]);
    },
  );

  it('R78: the beginning of an entity id that no entry read has ends svc logs history with exit code 2', async () => {
    expect((await svc('history', '3a04dacc')).code).toBe(2);
    const short = await svc('history', '3a04da');
    expect([short.code, errorIn(short)['near']]).toEqual([2, [CARD]]);
  });

  it('R78: an entity id that is not hexadecimal is used as typed, and near ids are named in the last line', async () => {
    const found = await svc('history', 'order-2026-77');
    expect([found.code, countIn(found.stdout)]).toEqual([0, 1]);
    const near = await svc('list', '--entity-id', 'order-2026');
    expect([near.code, near.stdout]).toEqual([0, '']);
    expect(near.stderr.trimEnd().split('\n').at(-1)).toContain('order-2026-77');
    const none = await svc('list', '--entity-id', 'another');
    expect([none.code, none.stderr.trimEnd().split('\n').at(-1)]).toEqual([0, 'no log entries']);
  });

  it('R78: a complete UUID is found in either case', async () => {
    expect(countIn((await svc('history', CARD.toUpperCase())).stdout)).toBe(2);
  });
});

/** Writes entity types of this and of another service into the cache. */
function typesOf(own: object): string {
  return JSON.stringify({ version: 1, services: { 'https://other.example': [['reactor', '']], ...own } });
}

describe('an unknown entity type', () => {
  it('R78: an unknown entity type is compared with the types of this service, or with the documented ones where none were listed', async () => {
    server.logs.length = 0;
    const cache = path.join(home, '.cache/svc');
    fs.mkdirSync(cache, { recursive: true });
    fs.writeFileSync(path.join(cache, 'entity-types.json'), typesOf({}));
    const { stderr } = await svc('list', '--entity-type', 'reaction');
    expect(stderr).toContain('unknown entity type "reaction": known: ');
    expect(stderr).toContain('known: application, bank, card, proxy, tenant, token');
    expect(stderr).toContain('svc logs entity-types');
    fs.writeFileSync(
      path.join(cache, 'entity-types.json'),
      typesOf({
        [server.url]: [
          ['webhook', ''],
          ['card', ''],
        ],
      }),
    );
    expect((await svc('list', '--entity-type', 'reaction')).stderr).toContain(
      'unknown entity type "reaction": known: card, webhook',
    );
  });
});

describe('an archive', () => {
  const START = Date.parse('2026-03-01T00:00:00Z');
  const HOUR = 3_600_000;

  it('R78: a search of an archive accepts the beginnings of the ids of an actor and of an entity', async () => {
    const entry = { tenant_id: 't-1', entity_type: 'card', entity_id: CARD, actor_id: PERSON, operation: 'read' };
    const entries = [{ ...entry, message: 'm', created_at: new Date(START + 1).toISOString() }];
    const { top } = await buildArchive(START, [{ to: START + HOUR, entries }]);
    const search = (...words: string[]) =>
      svcHere(['logs', 'search', top, ...words], { home, clock: new FakeClock({ start: START + 2 * HOUR }) });
    expect(countIn((await search('--actor', 'b1a0f1')).stdout)).toBe(1);
    const near = await search('--entity-id', '3a04dacf');
    expect([near.code, countIn(near.stdout), near.stderr.includes(CARD)]).toEqual([0, 1, true]);
    const unknown = await search('--actor', 'Nightly refresh');
    expect([unknown.code, unknown.stdout]).toEqual([2, '']);
    expect((await search('--entity-id', CARD)).code).toBe(0);
  });

  it('R78: an id whose archived entries have another type than the requested one ends a read with 2 and that type', async () => {
    const created_at = new Date(START).toISOString();
    const entries = [CARD, 'Tok-AbC'].map((id) => ({ entity_type: 'card', entity_id: id, message: 'm', created_at }));
    const { top } = await buildArchive(START, [{ to: START + HOUR, entries }]);
    const svcThen = (...argv: string[]) =>
      svcHere(['logs', ...argv], { home, clock: new FakeClock({ start: START + 2 * HOUR }) });
    for (const id of [CARD, 'Tok-AbC'])
      for (const words of [
        ['history', id, '--archive', top],
        ['search', top, '--entity-id', id],
        ['stats', top, '--entity-id', id],
      ]) {
        const wrong = await svcThen(...words, '--entity-type', 'token');
        expect([words, wrong.code, wrong.stdout]).toEqual([words, 2, '']);
        expect(errorIn(wrong)['message']).toBe(
          `the entries about the entity ${id.toLowerCase()} are of another type: card`,
        );
        expect([words, (await svcThen(...words, '--entity-type', 'card')).code]).toEqual([words, 0]);
      }
    const beginning = await svcThen('search', top, '--entity-id', CARD.slice(0, 8), '--entity-type', 'token');
    expect([beginning.code, errorIn(beginning)['message']]).toEqual([
      2,
      expect.stringContaining('of another type: card'),
    ]);
    // White space that was pasted with an id belongs to no id.
    for (const words of [
      ['history', ` ${CARD}`, '--archive', top],
      ['search', top, '--entity-id', `${CARD} `],
    ])
      expect(countIn((await svcThen(...words)).stdout)).toBe(1);
  });
});
