// Formats numbers, counts, sizes and percentages.

import { JsonToken } from '../../base/json/exact.ts';

const BYTE_UNITS = ['kB', 'MB', 'GB', 'TB'] as const;

/** Formats a number with thousands separators: `1,234,567.5`. */
export function formatNumber(value: number | JsonToken): string {
  if (value instanceof JsonToken) return /^-?\d+$/.test(value.text) ? grouped(value.text) : value.text;
  if (!Number.isFinite(value) || Math.abs(value) >= 1e21) return String(value);
  const [whole = '', fraction] = String(value).split('.');
  return fraction === undefined ? grouped(whole) : `${grouped(whole)}.${fraction}`;
}

function grouped(digits: string): string {
  return digits.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats a count with its noun: `1 entry`, `1,200 entries`. `noun` is in the singular. */
export function countText(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  const plural = noun.replace(/(?<![aeiou])y$/, 'ie').replace(/(?:s|x|ch|sh)$/, '$&e');
  return `${formatNumber(count)} ${plural}s`;
}

/** Formats bytes in decimal units, as the service counts: `999 B`, `12.4 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let name: string = 'B';
  for (const unit of BYTE_UNITS) {
    if (value < 999.95 && (name !== 'B' || value < 1000)) break;
    value /= 1000;
    name = unit;
  }
  return name === 'B' ? `${Math.round(value)} B` : `${value.toFixed(1)} ${name}`;
}

/** Formats a share of one as a percentage: `0.123` is `12.3%`, `0.5` is `50%`. */
export function formatPercent(share: number): string {
  if (!Number.isFinite(share)) return '-';
  const percent = Math.round(share * 1000) / 10;
  return edgePercent(share) ?? `${formatNumber(percent)}%`;
}

/** Formats a share of one as a percentage with exactly one decimal, for columns of a report. */
export function fixedPercent(share: number): string {
  return Number.isFinite(share) ? (edgePercent(share) ?? `${(share * 100).toFixed(1)}%`) : '-';
}

/** Returns the text for a share that would round to 0% or 100% but is neither. */
function edgePercent(share: number): string | undefined {
  if (share > 0 && share < 0.0005) return '<0.1%';
  return share >= 0.9995 && share < 1 ? '>99.9%' : undefined;
}
