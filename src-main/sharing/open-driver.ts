import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import type { SharingSecret } from '../../src-shared/contract/sharing.ts';
import type { Sharing } from '../../src-shared/sharing.ts';
import { messageOf } from '../platform/failure.ts';
import type { Driver } from './driver.ts';
import { SharingError } from './failures.ts';

export type GetSecret = (name: SharingSecret) => Promise<string>;

/** Folder, server or bucket for display; empty if none is configured. */
export function whereOf({ kind, folder, redis, s3 }: Sharing): string {
  if (kind === 'folder') return folder.path;
  if (kind === 'redis') return redis.host === '' ? '' : `${redis.host}:${redis.port}`;
  if (kind === 's3')
    return s3.bucket === ''
      ? ''
      : [s3.endpoint.replace(/\/$/, ''), s3.bucket].join('/').replace(/^\//, 's3://');
  return '';
}

/** The configured driver; its code is loaded on demand, because most users need none. SharingError. */
export async function openDriver(sharing: Sharing, secret: GetSecret): Promise<Driver> {
  const { kind, readOnly, folder, redis, s3 } = sharing;
  if (whereOf(sharing) === '') throw new SharingError('incomplete', 'folder, host or bucket is missing');
  switch (kind) {
    case 'folder': {
      const { FolderDriver } = await import('./drivers/folder.ts');
      const limitBytes = folder.limitBytes === 0 ? Infinity : folder.limitBytes;
      return new FolderDriver({ dir: folder.path, readOnly, limitBytes });
    }
    case 'redis': {
      const { RedisDriver } = await import('./drivers/redis.ts');
      const [password, authorities] = [await secret('password'), await authoritiesOf(sharing)];
      return new RedisDriver({ ...redis, password, authorities });
    }
    case 's3': {
      if (s3.accessKeyId === '') throw new SharingError('incomplete', 'the access key is missing');
      const { S3Driver } = await import('./drivers/s3.ts');
      const [secretAccessKey, authorities] = [await secret('secretAccessKey'), await authoritiesOf(sharing)];
      return new S3Driver({ ...s3, secretAccessKey, authorities });
    }
    case 'off':
      throw new Error('nothing is shared');
  }
}

async function authoritiesOf({ authorities }: Sharing): Promise<string[] | undefined> {
  if (authorities === '') return undefined;
  try {
    return [...rootCertificates, await readFile(authorities, 'utf8')];
  } catch (error) {
    throw new SharingError('noAuthorities', messageOf(error), { cause: error });
  }
}
