import type { PathsHost } from '../config/paths.ts';
import type { Page } from './help-page.ts';

/** Help that belongs to no command: the word that follows `svc help`, and what it is about. */
export const TOPICS = {
  'exit-codes': 'what each exit code and name of a failure means',
  environment: 'the variables that svc reads',
  output: 'formats, fields, --jq, times, the pager, --plain',
  limits: 'what the service limits, and how svc keeps to it',
  files: 'what svc keeps on this machine, and files in and out',
  events: 'webhook events: receive, keep, pass on, send again',
  sandbox: 'the service emulated on this machine',
  faults: 'make requests to the sandbox fail',
  security: 'keys, addresses, card numbers: what svc promises',
} as const;

/** Name of a topic. */
export type TopicName = keyof typeof TOPICS;

/** Whether there is a topic of this name. */
export function isTopic(name: string): name is TopicName {
  return Object.hasOwn(TOPICS, name);
}

// Only the one that is asked for loads: several take their facts from where they are made true.
const PAGES: Readonly<Record<TopicName, () => Promise<(host: PathsHost) => Page>>> = {
  'exit-codes': async () => (await import('./topics/exit-codes.ts')).exitCodes,
  environment: async () => (await import('./topics/environment.ts')).environment,
  output: async () => (await import('./topics/output.ts')).output,
  limits: async () => (await import('./topics/limits.ts')).limits,
  files: async () => (await import('./topics/files.ts')).files,
  events: async () => (await import('./topics/events.ts')).events,
  sandbox: async () => (await import('./topics/sandbox.ts')).sandbox,
  faults: async () => (await import('./topics/faults.ts')).faults,
  security: async () => (await import('./topics/security.ts')).security,
};

/** The page of a topic, true for this machine. */
export async function topicPage(name: TopicName, host: PathsHost): Promise<Page> {
  return (await PAGES[name]())(host);
}
