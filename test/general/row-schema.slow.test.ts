import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { rowSchema } from '../../src/general/row-schema.ts';
import type { JsonSchema } from '../../src/schema/json-schema.ts';
import { svcHere } from '../support/run-here.ts';
import { allCommands } from '../support/tree.ts';

const commands = await allCommands();

function schemaOf(words: string): Promise<JsonSchema | undefined> {
  return rowSchema(words, commands.find((each) => each.words === words)?.command.fields);
}

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
