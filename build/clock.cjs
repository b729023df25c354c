// Loaded before the program of a picture: its clock stands at PICTURE_TIME, or begins there if PICTURE_CLOCK is "runs".
const start = Date.parse(process.env['PICTURE_TIME']);
const begun = performance.now();
const runs = process.env['PICTURE_CLOCK'] === 'runs';

globalThis.Date = class extends Date {
  constructor(...parts) {
    if (parts.length === 0) super(now());
    else super(...parts);
  }

  static now() {
    return now();
  }
};

function now() {
  return runs ? start + Math.floor(performance.now() - begun) : start;
}
