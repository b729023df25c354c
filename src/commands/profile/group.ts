import { entry, type GroupSpec } from '../../app/command.ts';

export const profile: GroupSpec = {
  commands: [
    entry('list', 'list the stored profiles and the built-in sandbox', async () => (await import('./profile.ts')).list),
    entry(
      'show',
      'show the settings of a profile, and which keys are stored',
      async () => (await import('./profile.ts')).show,
    ),
    entry('use', 'choose the default profile', async () => (await import('./profile.ts')).use),
    entry(
      'set',
      'change a setting of the profile in use, or of the one named with --profile',
      async () => (await import('./set.ts')).set,
    ),
    entry('delete', 'delete a profile with its stored keys', async () => (await import('./profile.ts')).deleteProfile),
  ],
  defaultCommand: 'list',
};
