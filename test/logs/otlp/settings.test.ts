import { describe, expect, it } from 'vitest';
import { otlpSettings } from '../../../src/logs/otlp/settings.ts';
import { ended, svcHere } from '../../support/run-here.ts';

describe('settings of the export', () => {
  it('settings come from the variables of OpenTelemetry, first those for logs, then those for all signals', () => {
    const environment = {
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20abc, x-scope=a=b,',
      OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'x-scope=logs',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_LOGS_COMPRESSION: 'none',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=prod,service.name=other',
      OTEL_SERVICE_NAME: 'vault',
    };
    expect(otlpSettings(environment)).toEqual({
      headers: { authorization: 'Bearer abc', 'x-scope': 'logs' },
      resource: { 'service.name': 'vault', 'deployment.environment': 'prod' },
      gzip: false,
    });
    expect(otlpSettings({})).toEqual({ headers: {}, resource: { 'service.name': 'svc' }, gzip: true });
  });

  it('settings have every header and attribute, whatever its name', () => {
    const environment = { OTEL_EXPORTER_OTLP_HEADERS: '__proto__=a', OTEL_RESOURCE_ATTRIBUTES: '__proto__=b' };
    const { headers, resource } = otlpSettings(environment);
    expect([Object.entries(headers), Object.entries(resource)]).toEqual([
      [['__proto__', 'a']],
      [
        ['service.name', 'svc'],
        ['__proto__', 'b'],
      ],
    ]);
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_HEADERS', 'canary'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=canary%'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=canary'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=canary%0d%0ax: y'],
    ['OTEL_EXPORTER_OTLP_LOGS_HEADERS', 'host=canary'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'Keep-Alive=canary'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'expect=canary'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'upgrade=canary'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'canary'],
  ])('R05: the setting %s=%s is refused by name, without its value', (name, value) => {
    expect(() => otlpSettings({ [name]: value })).toThrow(new RegExp(name));
    expect(() => otlpSettings({ [name]: value })).not.toThrow(/canary/);
  });

  it('the hint about headers that cannot be read says their form, and is not hidden as a secret', async () => {
    const env = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=caf%E2%82%AC' };
    const run = await svcHere(['--sandbox', 'logs', 'tail', '--to', 'otlp+http://127.0.0.1:4318'], { env });
    const hint = 'Set it in the form: name=value,name=value, each value of printable ASCII characters.';
    ended(run, 3, { error: { code: 'config', hint } });
  });
});
