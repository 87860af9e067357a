import { lazy } from 'react';
import { useAction, useCall } from '../client/context.tsx';
import ChatScreen from '../features/chat/ChatScreen.tsx';
import NextStep from '../features/welcome/NextStep.tsx';
import Welcome from '../features/welcome/Welcome.tsx';

const Report = lazy(() => import('../features/fusion/FusionPanel.tsx'));

/** The chat screen, with the parts that other features contribute. */
export default function ChatPage() {
  const { data: settings } = useCall('settings.get');
  const update = useAction('settings.update');
  const onSent = (): void => {
    if (settings?.welcomed === false) update.mutate({ welcomed: true });
  };
  return <ChatScreen slots={{ Welcome, Report, AfterFirstAnswer: NextStep, onSent }} />;
}
