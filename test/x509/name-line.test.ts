import { describe, expect, it } from 'vitest';
import { nameLine } from '../../src/lib/x509/index.ts';

describe('the name in a certificate', () => {
  it('is one line in RFC 4514 order, most specific part first', () => {
    expect(nameLine('C=DE\nO=Robots GmbH\nCN=SN-0815')).toBe('CN=SN-0815, O=Robots GmbH, C=DE');
    expect(nameLine('CN=SN-0815')).toBe('CN=SN-0815');
    expect(nameLine(undefined)).toBe('');
  });

  it('is bounded', () => void expect(nameLine(`CN=${'x'.repeat(10_000)}`)).toHaveLength(300));
});
