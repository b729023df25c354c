import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { ROW_SHAPES, rowSchema } from '../../src/general/row-schema.ts';
import type { JsonSchema } from '../../src/schema/json-schema.ts';
import { svcHere } from '../support/run-here.ts';
import { allCommands } from '../support/tree.ts';

const commands = await allCommands();

/** Returns the dotted paths of all properties of a schema. */
function pathsIn(schema: unknown, before = ''): string[] {
  const { properties = {}, anyOf = [] } = schema as { properties?: object; anyOf?: object[] };
  const own = Object.entries(properties).flatMap(([name, inner]) =>
    [`${before}${name}`].concat(pathsIn(inner, `${before}${name}.`)),
  );
  return [...own, ...anyOf.flatMap((one) => pathsIn(one, before))];
}

function schemaOf(words: string): Promise<JsonSchema | undefined> {
  return rowSchema(words, commands.find((each) => each.words === words)?.command.fields);
}

it.each(commands.filter(({ command }) => command.fields !== undefined).map(({ words }) => words))(
  'the JSON Schema of a row of svc %s is valid and has the fields of the command',
  async (words) => {
    const fields = commands.find((each) => each.words === words)?.command.fields ?? [];
    const schema = (await schemaOf(words)) ?? {};
    new Ajv2020({ strict: false }).compile(schema);
    const paths = new Set(pathsIn(schema));
    const missing = fields.filter((field) => !paths.has(field) && !/(?:^|\.)\*$/.test(field));
    expect(missing).toEqual([]);
  },
);

it('the JSON Schema of a row has a shape only for commands that exist', () => {
  const known = new Set(commands.map(({ words }) => words));
  expect(Object.keys(ROW_SHAPES).filter((words) => !known.has(words))).toEqual([]);
});

it('the JSON Schema of a row describes the fields of every shape with the words of the glossary', async () => {
  for (const words of Object.keys(ROW_SHAPES)) {
    const text = JSON.stringify(await schemaOf(words));
    expect(text, words).toMatch(/"description":"[A-Za-z]/);
  }
  expect(await schemaOf('au jobs')).toMatchObject({
    properties: {
      status: { type: 'string', description: 'How far the job is: pending, processing, completed or failed.' },
      cycle: {},
    },
    required: ['id', 'status'],
  });
  expect(await schemaOf('3ds show')).toMatchObject({
    properties: {
      authentication: { anyOf: [{ properties: { eci: { description: expect.stringMatching(/^The elec/) } } }, {}] },
    },
  });
});

it.each(['logs list', 'logs entity-types', 'tenant show', 'au create', 'au jobs'])(
  'the JSON Schema of a row of svc %s accepts what the command prints',
  async (words) => {
    const { stdout } = await svcHere(['--sandbox', ...words.split(' '), '-o', 'json']);
    const printed = JSON.parse(stdout) as unknown;
    const accepts = new Ajv2020({ strict: false }).compile((await schemaOf(words)) ?? false);
    for (const row of Array.isArray(printed) ? printed : [printed]) {
      accepts(row);
      expect(accepts.errors).toBeNull();
    }
    expect(accepts('text')).toBe(false);
  },
);
