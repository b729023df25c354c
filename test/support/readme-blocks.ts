/** A fenced block of a Markdown file. */
export interface Block {
  /** First line of the fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  /** The words after the language, such as `account`; a renderer hides them. */
  readonly marks: readonly string[];
  readonly text: string;
}

/** Returns the fenced blocks of a Markdown text, in order. */
export function readBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent, info] = /^( *)```(.*)$/.exec(lines[index] ?? '') ?? [];
    if (indent === undefined || info === undefined) continue;
    const end = lines.indexOf(`${indent}\`\`\``, index + 1);
    if (end < 0) throw new Error(`line ${index + 1}: the block is not closed`);
    const [language = '', ...marks] = info.trim().split(/\s+/);
    const text = lines.slice(index + 1, end).map((line) => line.slice(indent.length));
    blocks.push({ line: index + 1, language, marks, text: text.join('\n') });
    index = end;
  }
  return blocks;
}

/** Returns the command lines of a block, without comments and empty lines. After `\`, a line continues in the next. */
export function commandsOf(block: Block): string[] {
  return block.text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
