import { expect, it } from 'vitest';
import { elements, elementText } from '../../../src/client/transfer/xml.ts';

it('XML elements are found with any prefix, and their entities are decoded', () => {
  const xml = '<l:List xmlns:l="x"><l:Key a="1">a&amp;b&#x41;&#66;&quot;</l:Key><Key/><Key>\n c </Key></l:List>';
  expect(elements(xml, 'Key')).toEqual(['a&amp;b&#x41;&#66;&quot;', '\n c ']);
  expect(elementText(xml, 'Key')).toBe('a&bAB"');
  expect(elementText(xml, 'Absent')).toBeUndefined();
  expect(elementText('<Key>&#x110000;&#99999999;&no;</Key>', 'Key')).toBe('&#x110000;&#99999999;&no;');
});
