import { assert, constantFrom, integer, property, stringMatching } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPartialSuccess } from '../../../src/logs/otlp/exporter.ts';
import { exportRequests, logRecord, unixNano } from '../../../src/logs/otlp/request.ts';

const same = (text: string): string => text;
const hide = (text: string): string => text.replaceAll('secret', '***');

describe('a time in nanoseconds', () => {
  it('a time in nanoseconds is exact to the last digit of the fraction', () => {
    assert(
      property(
        integer({ min: 20_000, max: 4_000_000_000 }),
        stringMatching(/^\d{1,9}$/),
        constantFrom('Z', '', '+02:00', '-05:30'),
        (second, fraction, zone) => {
          const shift = zone === '+02:00' ? -7_200 : zone === '-05:30' ? 19_800 : 0;
          const text = `${new Date(second * 1000).toISOString().slice(0, 19)}.${fraction}${zone}`;
          expect(unixNano(text)).toBe(String(second + shift) + fraction.padEnd(9, '0'));
        },
      ),
    );
  });

  it.each([
    ['2026-01-31T09:00:00Z', '1769850000000000000'],
    ['2026-01-31T09:00:00.1234567Z', '1769850000123456700'],
    ['2026-01-31 09:00:00+00:00', '1769850000000000000'],
    ['2026-01-31T09:00:00.1234567891Z', undefined],
    ['1969-12-31T23:59:59Z', undefined],
    ['soon', undefined],
  ])('the time %s is %s in nanoseconds', (text, nano) => {
    expect(unixNano(text)).toBe(nano);
  });
});

describe('a log record', () => {
  it('a log record has the message as its body and every other field as an attribute with the same type', () => {
    const log = {
      tenant_id: 't-1',
      actor_id: 'a-1',
      entity_type: null,
      operation: 'create',
      message: 'Token created',
      created_at: '2026-01-31T09:00:00.5Z',
      count: 3,
      share: 0.5,
      deep: { list: [true, 'x'] },
    };
    expect(JSON.parse(logRecord(log, { observedAt: 1_769_850_001_250, clean: same }))).toEqual({
      timeUnixNano: '1769850000500000000',
      observedTimeUnixNano: '1769850001250000000',
      severityNumber: 9,
      severityText: 'INFO',
      body: { stringValue: 'Token created' },
      attributes: [
        { key: 'svc.actor_id', value: { stringValue: 'a-1' } },
        { key: 'svc.operation', value: { stringValue: 'create' } },
        { key: 'svc.count', value: { intValue: '3' } },
        { key: 'svc.share', value: { doubleValue: 0.5 } },
        {
          key: 'svc.deep',
          value: {
            kvlistValue: {
              values: [{ key: 'list', value: { arrayValue: { values: [{ boolValue: true }, { stringValue: 'x' }] } } }],
            },
          },
        },
      ],
    });
  });

  it('a log record keeps a time without an exact form as an attribute', () => {
    const record = JSON.parse(logRecord({ created_at: 'soon' }, { observedAt: 0, clean: same })) as object;
    expect(record).not.toHaveProperty('timeUnixNano');
    expect(record).toMatchObject({ attributes: [{ key: 'svc.created_at', value: { stringValue: 'soon' } }] });
  });

  it('R06: a log record contains only cleaned text', () => {
    const log = { created_at: 'x', message: 'secret', a: 'secret', b: ['secret', { secret: 'secret' }] };
    expect(logRecord(log, { observedAt: 0, clean: hide })).not.toContain('secret');
  });
});

describe('requests to export', () => {
  it('export requests contain every entry once, in order, grouped by tenant, and have a bounded size', () => {
    const logs = Array.from({ length: 30 }, (_, index) => ({
      tenant_id: index % 2 === 0 ? 'even' : null,
      message: `${index} ${'x'.repeat(400_000)}`,
      created_at: '2026-01-31T09:00:00Z',
    }));
    const requests = Array.from(exportRequests(logs, { observedAt: 0, clean: same, resource: { a: 'b' } }));
    expect(requests.map((request) => request.logs.length)).toEqual([10, 10, 10]);
    expect(requests.flatMap((request) => request.logs)).toEqual(logs);
    for (const { text } of requests) {
      expect(text.length).toBeLessThan(5 * 1024 * 1024);
      const { resourceLogs } = JSON.parse(text) as { resourceLogs: unknown[] };
      expect(resourceLogs.length).toBeLessThanOrEqual(2);
    }
  });
});

describe('the response of a collector that accepted a request', () => {
  it.each([
    ['{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"too old"}}', { rejected: 2, message: 'too old' }],
    ['{"partialSuccess":{"rejectedLogRecords":1}}', { rejected: 1, message: '' }],
    ['{"partialSuccess":{"errorMessage":"deprecated"}}', { rejected: 0, message: 'deprecated' }],
    ['{"partialSuccess":{}}', undefined],
    ['{}', undefined],
    ['', undefined],
    ['null', undefined],
  ])('the response %s is read as %j', (text, said) => {
    const answer = { status: 200, text, contentType: undefined, location: undefined, requestedMs: undefined };
    expect(readPartialSuccess(answer)).toEqual(said);
  });
});
