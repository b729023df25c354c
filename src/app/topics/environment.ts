import type { Page, Row } from '../help-page.ts';
import { GLOBAL_PARAMETERS, optionWords, type Parameter, type Parameters } from '../parameter.ts';

/** `svc help environment` */
export function environment(): Page {
  return {
    title: 'Environment variables: an option comes before them, a profile after them',
    sections: [
      {
        title: 'Examples',
        examples: [
          ['SVC_OUTPUT=json svc --sandbox tenant show', 'a default for one command'],
          ['SVC_PROFILE=sandbox svc logs --limit 1', 'the sandbox, without --sandbox'],
        ],
      },
      { title: 'In place of an option', rows: optionVariables(GLOBAL_PARAMETERS) },
      { title: 'Others', rows: OTHERS },
      { title: 'More', text: "'svc whoami' shows where each setting in use came from." },
    ],
  };
}

function optionVariables(parameters: Parameters): Row[] {
  return Object.values(parameters).flatMap((parameter) =>
    parameter.environment === undefined ? [] : [[parameter.environment, standsFor(parameter)] as const],
  );
}

function standsFor(parameter: Parameter<unknown>): string {
  return `${optionWords(parameter).at(-1) ?? ''}: ${parameter.description}`;
}

const OTHERS: readonly Row[] = [
  ['SVC_MANAGEMENT_API_KEY', 'key for logs and the tenant'],
  ['SVC_PRIVATE_API_KEY', 'key for 3DS and the Account Updater'],
  ['SVC_API_KEY', 'either kind, where the one above is not set'],
  ['…_FILE', 'with any of the three: a file that holds the key'],
  ['SVC_CONFIG_DIR', 'where profiles and keys are kept'],
  ['SVC_STATE_DIR', 'where runs, the sandbox and copies of piped files are kept'],
  ['SVC_CACHE_DIR', 'where what can be fetched again is kept'],
  ['SVC_PACING', 'off: requests go out at once instead of keeping under the rate limits'],
  ['SVC_SANDBOX_FAULTS', 'faults of the embedded sandbox: seed=7; 503@GET /logs:0.5; …'],
  ['AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY', 'credentials of the bucket of an archive; kept secret'],
  ['AWS_SESSION_TOKEN', 'with them, where they are temporary'],
  ['AWS_REGION, AWS_DEFAULT_REGION', 'region of the bucket (default us-east-1)'],
  ['AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL', 'a store of another maker: https, or http on this machine'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'what a collector asks for: authorization=Bearer%20…; kept secret'],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip, the default, or none'],
  ['OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES', 'how a collector tells these logs from others'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'proxies, as other tools read them'],
  ['NODE_EXTRA_CA_CERTS', 'further certificate authorities'],
  ['GITHUB_ACTIONS', 'when true, problems of a request file are annotations beside its lines'],
];
