import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { regionOfHost, siteSchema } from '../../../../src/lib/site/index.ts';
import { regionLines } from '../../../../src/lib/toolkit/network/check/region.ts';
import { forAll } from '../../kit.ts';

const named = (host: string) => {
  const found = regionOfHost(host);
  return found.kind === 'named' ? `${found.region}${found.isProviders ? '' : ' (of its owner)'}` : found.kind;
};

describe('the region in the name of a host', () => {
  it.each([
    ['a1b2-ats.iot.eu-central-1.amazonaws.com', 'eu-central-1'],
    ['A1B2-ATS.IOT.EU-CENTRAL-1.AMAZONAWS.COM.', 'eu-central-1'],
    ['bucket.s3.dualstack.eu-central-1.amazonaws.com', 'eu-central-1'],
    ['bucket.s3-eu-central-1.amazonaws.com', 'eu-central-1'],
    ['lb-1.eu-central-1.elb.amazonaws.com', 'eu-central-1'],
    ['data.tunneling.iot.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
    ['iot.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
    // A bucket may have the name of a region.
    ['eu-central-1.s3.us-east-1.amazonaws.com', 'us-east-1'],
    ['iot.eu-central-10.amazonaws.com', 'eu-central-10'],
    ['iot.eu-central-1a.amazonaws.com', 'none'],
    ['my-eu-central-1.amazonaws.com', 'none'],
    ['s3.amazonaws.com', 'none'],
    ['amazonaws.com', 'none'],
    ['eu-central-1.evil.example', 'eu-central-1 (of its owner)'],
    ['iot.eu-central-1.amazonaws.com.evil.example', 'eu-central-1 (of its owner)'],
    ['iot.eu-central-1.notamazonaws.com', 'eu-central-1 (of its owner)'],
    ['xeu-central-1.example', 'none'],
    ['mqtt.example.com', 'none'],
    ['127.0.0.1', 'address'],
    ['198.51.100.7', 'address'],
    ['::1', 'address'],
    ['localhost', 'address'],
    ['eu-central-1.localhost', 'address'],
  ])('%s: %s', (host, expected) => {
    expect(named(host)).toBe(expected);
  });

  it('never throws, and is never the provider of a name that does not end in its domain', { tags: 'property' }, () => {
    forAll(fc.oneof(fc.string(), fc.domain()), (host) => {
      const found = regionOfHost(host);
      const isBelow = /\.(amazonaws\.com|amazonaws\.com\.cn|api\.aws|on\.aws)\.?$/i.test(host);
      if (found.kind === 'named' && found.isProviders) expect(isBelow).toBe(true);
    });
  });
});

describe('the findings about the region', () => {
  const lines = (broker: string | undefined, region?: string, enrolledBroker?: string) =>
    regionLines(
      siteSchema.parse({
        name: 'test',
        chassis: { host: '192.0.2.3', serial: 'SN0001' },
        enrolment: { url: 'https://enrol.example.com' },
        cloud: {
          ...(region && { region }),
          mqtt: { ...(broker && { host: broker }), alpn: 'x-test-mqtt-ca' },
          storageUrl: 'https://bucket.s3.eu-central-1.amazonaws.com',
          tunnel: { host: '127.0.0.1' },
        },
      }),
      enrolledBroker,
    ).map(({ id, verdict, need }) => `${id} ${verdict} ${need}`);

  it('are ok or wrong by the domain of the provider, and never ok for this machine or a name without a region', () => {
    expect(lines('a.iot.eu-central-1.amazonaws.com')).toEqual([
      'region.mqtt ok needed',
      'region.storage ok needed',
      'region.tunnel not-checked optional',
      'region.enrolment not-checked optional',
    ]);
    expect(lines('a.iot.eu-central-10.amazonaws.com')[0]).toBe('region.mqtt wrong needed');
    expect(lines('mqtt.eu-west-1.example.com')[0]).toBe('region.mqtt wrong needed');
    expect(lines('eu-central-1.evil.example')[0]).toBe('region.mqtt not-checked optional');
    expect(lines('localhost')[0]).toBe('region.mqtt not-checked optional');
    expect(lines('a.iot.eu-central-1.amazonaws.com', 'eu-west-1').slice(0, 2)).toEqual([
      'region.mqtt wrong needed',
      'region.storage wrong needed',
    ]);
  });

  it('are about the broker of the enrolment when the site file names none, and about no broker when neither does', () => {
    expect(lines(undefined, undefined, 'a.iot.us-east-1.amazonaws.com')[0]).toBe('region.mqtt wrong needed');
    expect(lines('a.iot.eu-central-1.amazonaws.com', undefined, 'a.iot.us-east-1.amazonaws.com')[0]).toBe(
      'region.mqtt ok needed',
    );
    expect(lines(undefined)[0]).toBe('region.storage ok needed');
  });
});
