import { entry, type GroupSpec } from '../../app/command.ts';

/** `svc profile` */
export const profile: GroupSpec = {
  commands: [
    entry(
      'list',
      'the stored profiles, and the sandbox that always exists',
      async () => (await import('./profile.ts')).list,
    ),
    entry(
      'show',
      'one profile: its settings, and which keys are stored',
      async () => (await import('./profile.ts')).show,
    ),
    entry(
      'use',
      'choose the profile that is used when none is named',
      async () => (await import('./profile.ts')).use,
    ),
    entry(
      'set',
      'change a setting of the profile in use, or of the one named with --profile',
      async () => (await import('./set.ts')).set,
    ),
    entry(
      'delete',
      'delete a profile with its stored keys',
      async () => (await import('./profile.ts')).deleteProfile,
    ),
  ],
  defaultCommand: 'list',
};
