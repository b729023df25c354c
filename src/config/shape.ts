import { JsonFault, type JsonNode } from './json-text.ts';

/** Throws a `JsonFault` at the place where a node, called `name`, is not as it should be. */
export type Check = (node: JsonNode, name: string) => void;

/** A text. */
export function text(node: JsonNode, name: string): void {
  if (node.kind !== 'scalar' || typeof node.value !== 'string')
    throw new JsonFault(node.at, `${name} should be a text in quotes`);
}

/** One of these values. */
export function oneOf(values: readonly unknown[]): Check {
  const listed = values.map((value) => JSON.stringify(value)).join(' or ');
  return (node, name) => {
    if (node.kind !== 'scalar' || !values.includes(node.value))
      throw new JsonFault(node.at, `${name} should be ${listed}`);
  };
}

/** An object with these members; others are let through unread. */
export function object(members: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (node, name) => {
    if (node.kind !== 'object') throw new JsonFault(node.at, `${name} should be an object in braces`);
    const missing = required.find((member) => !node.members.has(member));
    if (missing !== undefined) throw new JsonFault(node.at, `${name} has no ${missing}`);
    for (const [member, check] of Object.entries(members)) {
      const found = node.members.get(member);
      if (found !== undefined) check(found.node, member);
    }
  };
}

/** An object whose members are all alike; `nameProblem` says what is wrong with a member's name, if anything. */
export function mapOf(nameProblem: (name: string) => string | undefined, check: Check): Check {
  return (node, name) => {
    if (node.kind !== 'object') throw new JsonFault(node.at, `${name} should be an object in braces`);
    for (const [memberName, member] of node.members) {
      const problem = nameProblem(memberName);
      if (problem !== undefined) throw new JsonFault(member.at, `a name in ${name} ${problem}`);
      check(member.node, memberName);
    }
  };
}
