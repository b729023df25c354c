import { Document, isPair, isScalar, type ScalarTag, visit } from 'yaml';
import { JsonToken } from '../../base/json/exact.ts';
import { escapeInJson, isUnsafe } from './text.ts';
import { chooseFields, memberRedactor, projection, type Renderer, type RenderOptions, same } from './view.ts';

/** Renders a list as a YAML sequence, streamed item by item, and a single object as one document. */
export function yamlRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const project = projection(options.view, chooseFields(options.view, options.fields), options.showUrls ?? false);
  const { redact = same } = options;
  let count = 0;
  return {
    isRedacted: options.redact !== undefined,
    rows: (batch) => {
      count += batch.length;
      return batch.length === 0
        ? ''
        : yamlText(
            batch.map((row) => project(row)),
            redact,
          );
    },
    end: () => (count === 0 ? '[]\n' : ''),
    record: (value) => yamlText(project(value), redact),
  };
}

/** Writes a kept JSON number as the same YAML number, and any other kept JSON text as a string. */
const TOKEN: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof JsonToken,
  resolve: Number,
  stringify: ({ value }) => {
    if (!(value instanceof JsonToken)) return String(value);
    return value.isNumber ? value.text : JSON.stringify(value.text);
  },
};

/**
 * Formats YAML that means the same in YAML 1.1 and 1.2: `yes`, `1e3` and times stay strings. A string with characters that are
 * unsafe for a terminal is double-quoted, so that escapes can replace these characters.
 */
function yamlText(value: unknown, redact: (text: string) => string): string {
  const document = new Document(value, {
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
    customTags: (tags) => [...tags, TOKEN],
  });
  visit(document, {
    Scalar: (key, node, path) => {
      // Redacted before it is quoted: `[hidden]` without quotes is a list.
      node.value = redacted(key === 'value' ? nameIn(path.at(-1)) : '', node.value, redact);
      if (typeof node.value === 'string' && isUnsafe(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeInJson(document.toString({ lineWidth: 0, doubleQuotedAsJSON: true }));
}

function nameIn(pair: unknown): string {
  return isPair(pair) && isScalar(pair.key) ? String(pair.key.value) : '';
}

/** Removes secrets from a value. Returns a value without secrets unchanged. */
function redacted(name: string, value: unknown, redact: (text: string) => string): unknown {
  if (typeof value !== 'string' && typeof value !== 'number' && !(value instanceof JsonToken)) return value;
  const text = value instanceof JsonToken ? value.text : String(value);
  const shown = memberRedactor(name, redact)(text);
  if (shown === text) return value;
  return value instanceof JsonToken && !value.isNumber ? new JsonToken(shown) : shown;
}
