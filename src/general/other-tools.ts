import type { OtherTools } from '../cli/app/command.ts';

/** Commands and options of other tools, with the svc equivalent to suggest. Loaded only after a mistake. */
export const OTHER_TOOLS: OtherTools = {
  commands: {
    'account-updater': 'au',
    auth: 'login',
    config: 'profile',
    configure: 'login',
    init: 'login',
    listen: 'events listen',
    status: 'whoami',
    'au list': 'au jobs',
    'au show': 'au status',
    'profile get': 'profile show',
    'profile rm': 'profile delete',
    'tenant get': 'tenant show',
  },
  options: {
    '--after': '--since',
    '--by': '--jq',
    '--from': '--since',
    '--entity': '--entity-type',
    '--type': '--entity-type',
    '--format': '--output',
    '--json': '--output json',
    '--query': '--jq',
    '--tail': '--limit',
    '--no-color': '--color never',
    '--verbose': '--debug',
  },
};
