import { IconBolt, IconCpu, IconFilePlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { ReactNode } from 'react';
import { DownloadOffer } from './DownloadOffer.tsx';
import { FoundModels } from './FoundModels.tsx';
import { Readiness } from './Readiness.tsx';
import { Suggestions } from './Suggestions.tsx';
import classes from './Welcome.module.css';

/**
 * Kvasir on one screen: what is ready, what to ask, what to look at, and how to continue. Models are offered in order
 * of cost: the demo, which is included, then models of other apps on this machine, then downloads.
 */
export function FirstRun({ onAsk }: { onAsk: (question: string) => void }) {
  const { t } = useTranslation('welcome');
  return (
    <div className={classes.page}>
      <h2 className={classes.title}>{t('title')}</h2>
      <p className={classes.intro}>{t('intro')}</p>
      <Readiness />
      <Suggestions onAsk={onAsk} />
      <p className={classes.see}>
        <IconBolt size={17} aria-hidden /> {t('see')}
      </p>
      <FoundModels />
      <DownloadOffer />
      <h2 className={classes.heading}>{t('own')}</h2>
      <div className={classes.ways}>
        <Way
          href="/library"
          icon={<IconFilePlus size={20} />}
          title={t('addDocuments')}
          text={t('addDocumentsText')}
        />
        <Way
          href="/models"
          icon={<IconCpu size={20} />}
          title={t('importModel')}
          text={t('importModelText')}
        />
      </div>
    </div>
  );
}

function Way({ href, icon, title, text }: { href: string; icon: ReactNode; title: string; text: string }) {
  return (
    <Link href={href} className={classes.way ?? ''}>
      <span className={classes.wayIcon} aria-hidden>
        {icon}
      </span>
      <span>
        <strong>{title}</strong>
        <span className={classes.wayText}>{text}</span>
      </span>
    </Link>
  );
}
