import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { destinationText, parseDestination } from '../../../src/logs/otlp/settings.ts';

describe('a destination', () => {
  it.each([
    ['otlp+http://127.0.0.1:4318', 'http://127.0.0.1:4318/v1/logs'],
    ['otlp+https://collector.example/otlp/', 'https://collector.example/otlp/v1/logs'],
    ['OTLP+https://collector.example/v1/logs', 'https://collector.example/v1/logs'],
    ['otlp+https://collector.example/v1/logs/', 'https://collector.example/v1/logs'],
  ])('the destination %s sends to %s', (text, address) => {
    const url = parseDestination(text);
    expect(url.href).toBe(address);
    expect(parseDestination(destinationText(url)).href).toBe(address);
  });

  it.each([
    'http://127.0.0.1:4318',
    'otlp+http://collector.example:4318',
    'otlp+https://user:canary@collector.example',
    'otlp+https://collector.example/?token=canary',
    'otlp+ftp://collector.example',
    'otlp+https://',
    '4318',
  ])('R04: %s is refused as a destination, and the refusal does not repeat it', (text) => {
    expect(() => parseDestination(text)).toThrow(SvcError);
    expect(() => parseDestination(text)).not.toThrow(/canary|collector\.example\//);
  });
});
