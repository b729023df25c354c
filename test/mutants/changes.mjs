// Finds the places of a source file where a small change is a mistake that a developer could make.
import { parseSync } from 'rolldown/utils';

/** What each operator becomes. */
const OPERATORS = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
};

/** Replaces a statement that is left out. */
export const NOTHING = ';';

/** Methods whose call can be left out, because they return the type of their object. */
const LEFT_OUT = new Set(['filter', 'slice', 'toSorted', 'toReversed', 'trim', 'toLowerCase', 'flat']);

/** Type syntax that contains an expression. All other type syntax is skipped. */
const TYPED_EXPRESSIONS = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);

/** Returns the changes of a file, sorted by position. Each replaces the text from `start` to `end` with `to`. */
export function changesIn(path, text) {
  const changes = [];
  visit(parseSync(path, text).program);
  return changes.toSorted((one, other) => one.start - other.start || other.end - one.end);

  function visit(node, parent) {
    if (node.type.startsWith('TS') && !TYPED_EXPRESSIONS.has(node.type)) return;
    for (const to of alternatives(node, parent, text)) changes.push(changeOf(node, to));
    for (const child of childrenOf(node)) visit(child, node);
  }

  function changeOf({ start, end }, to) {
    const before = text.slice(0, start).split('\n');
    return {
      path,
      start,
      end,
      line: before.length,
      column: before.at(-1).length + 1,
      from: text.slice(start, end),
      to,
    };
  }
}

function childrenOf(node) {
  // A number before a colon is a name, and cannot be changed in place.
  const parts = Object.entries(node).filter(([name]) => name !== 'key' || node.computed);
  return parts.flatMap(([, part]) => part).filter((part) => typeof part?.type === 'string');
}

/** Returns the texts that can replace a node. */
function alternatives(node, parent, source) {
  const text = ({ start, end }) => source.slice(start, end);
  switch (node.type) {
    case 'ExpressionStatement':
      return isEffect(node.expression) ? [NOTHING] : [];
    case 'Literal':
      if (typeof node.value === 'boolean') return [String(!node.value)];
      return typeof node.value === 'number' ? [`${node.raw} + 1`] : [];
    case 'UnaryExpression':
      return node.operator === '!' ? [text(node.argument)] : [];
    case 'BinaryExpression':
    case 'LogicalExpression':
      return otherOperations(node, text);
    default:
      return [...(isCondition(node, parent) ? [`!(${text(node)})`] : []), ...withoutCall(node, text)];
  }
}

function otherOperations({ left, operator, right }, text) {
  if (operator === '??') return [text(left)];
  const other = OPERATORS[operator];
  return other === undefined ? [] : [`(${text(left)}) ${other} (${text(right)})`];
}

function withoutCall({ type, callee }, text) {
  const canGo = type === 'CallExpression' && LEFT_OUT.has(callee.property?.name);
  return canGo && !isOptionalChain(callee) ? [text(callee.object)] : [];
}

/** Returns true for `a?.b.c`: the parentheses around a replaced call would end the chain too early. */
function isOptionalChain(node) {
  const inner = node.object ?? node.callee;
  return node.optional === true || (inner !== undefined && isOptionalChain(inner));
}

/** Returns true for a whole condition. Comparisons and logical operators have changes of their own. */
function isCondition(node, parent) {
  const hasTest = ['IfStatement', 'WhileStatement', 'ConditionalExpression'].includes(parent?.type);
  return hasTest && parent.test === node;
}

/** Returns true for an expression that does something when it is a whole statement. */
function isEffect(node) {
  if (node.type === 'AwaitExpression' || node.operator === 'void') return isEffect(node.argument);
  if (node.type === 'CallExpression') return node.callee.type !== 'Super';
  return ['AssignmentExpression', 'UpdateExpression'].includes(node.type) || node.operator === 'delete';
}
