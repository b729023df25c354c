import { LOGS_HABITS } from '../logs/habits.ts';
import { TENANT_HABITS } from '../tenant/habits.ts';
import { THREE_DS_HABITS } from '../3ds/habits.ts';
import { AU_HABITS } from '../au/habits.ts';
import { EVENTS_HABITS } from '../events/habits.ts';
import { SANDBOX_HABITS } from '../sandbox/habits.ts';
import { COMMON_HABITS, joinHabits } from '../cli/app/habits.ts';
import { GENERAL_HABITS } from './habits.ts';

/** The habits of all features. */
export const EVERY_HABIT = joinHabits([
  COMMON_HABITS,
  GENERAL_HABITS,
  LOGS_HABITS,
  TENANT_HABITS,
  THREE_DS_HABITS,
  AU_HABITS,
  EVENTS_HABITS,
  SANDBOX_HABITS,
]);
