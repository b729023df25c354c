import { Document, isScalar, type ScalarTag, visit } from 'yaml';
import { JsonToken } from '../../base/json/exact.ts';
import { escapeInJson, isUnsafe } from './text.ts';
import { chooseFields, projection, type Renderer, type RenderOptions } from './view.ts';

/** A sequence, streamed item by item; a single object is one document. */
export function yamlRenderer<T>(options: RenderOptions<T>): Renderer<T> {
  const project = projection(options.view, chooseFields(options.view, options.fields), options.showUrls ?? false);
  let count = 0;
  return {
    rows: (batch) => {
      count += batch.length;
      return batch.length === 0 ? '' : yamlText(batch.map((row) => project(row)));
    },
    end: () => (count === 0 ? '[]\n' : ''),
    record: (value) => yamlText(project(value)),
  };
}

/** A number of JSON is one of YAML too; what else is kept as text is shown as one. */
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
 * YAML that readers of 1.1 and 1.2 take alike: `yes`, `1e3` and times stay strings. A string with characters that
 * a terminal must not see is double-quoted, where each can be written as an escape: the data stay equal.
 */
function yamlText(value: unknown): string {
  const document = new Document(value, {
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
    customTags: (tags) => [...tags, TOKEN],
  });
  visit(document, {
    Scalar: (_, node) => {
      if (isScalar(node) && typeof node.value === 'string' && isUnsafe(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeInJson(document.toString({ lineWidth: 0, doubleQuotedAsJSON: true }));
}
