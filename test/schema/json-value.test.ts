import { describe, expect, it } from 'vitest';
import { otherTypes } from '../../src/schema/json-value.ts';
import { entityTypeListSchema } from '../../src/schema/log.ts';
import { listedJobPageSchema } from '../../src/schema/account-updater.ts';

describe('members of another type than documented', () => {
  it('members of another type are named without the position of their item', () => {
    const sent = { pagination: { page_size: '20' }, data: [{ id: 'a', status: 5 }, 7] };
    expect(otherTypes(listedJobPageSchema.parse(sent), sent)).toEqual(['pagination.page_size', 'data.status', 'data']);
  });

  it('an item of another type in a bare list is named as an item', () => {
    const sent = [{ value: 'card' }, 7, null];
    expect(otherTypes(entityTypeListSchema.parse(sent), sent)).toEqual(['items of the list']);
  });
});
