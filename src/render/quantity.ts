const BYTE_UNITS = ['kB', 'MB', 'GB', 'TB'] as const;

/** A number with thousands separators: `1,234,567.5`. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e21) return String(value);
  const [whole = '', fraction] = String(value).split('.');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Bytes in decimal units, as the service counts them: `999 B`, `12.4 MB`. */
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

/** A share of one: `0.123` is `12.3%`; whole percentages have no fraction. */
export function formatPercent(share: number): string {
  if (!Number.isFinite(share)) return '-';
  const percent = Math.round(share * 1000) / 10;
  return `${formatNumber(percent)}%`;
}

/** A share of one for a column of shares: always one decimal, so that the points stand under each other. */
export function alignedPercent(share: number): string {
  return (Number.isFinite(share) ? `${(share * 100).toFixed(1)}%` : '-').padStart(6);
}
