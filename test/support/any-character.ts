import { integer } from 'fast-check';

const HALVES = { first: 0xd800, count: 0x800 };

/** Any character of Unicode, as a unit of `string`. fast-check's own 'binary' takes more than a second to begin. */
export const anyCharacter = integer({ min: 0, max: 0x10ffff - HALVES.count }).map((number) =>
  String.fromCodePoint(number < HALVES.first ? number : number + HALVES.count),
);
