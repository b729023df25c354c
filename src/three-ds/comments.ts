/**
 * JSON text with each `//` comment replaced by as many spaces, so that places in it stay where they are.
 * Nothing inside a string is a comment.
 */
export function blankComments(text: string): string {
  // A string that does not end is left to the JSON reader, which says where.
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n\r]*/g, (part) =>
    part.startsWith('"') ? part : ' '.repeat(part.length),
  );
}
