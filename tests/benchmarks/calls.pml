/* The model that `runlock explore calls --calls N` counts: N calls with at most two re-suspensions each,
   every arrow of their chart, and a cancel of the run that takes all live calls at once.  For N up to 5. */

#define New        0
#define Running    1
#define Suspended  2
#define Resuming   3
#define Succeeded  4
#define Failed     5
#define Cancelled  6

byte status[N];
byte waits[N];
bool cancelled;

#define CALL(i) \
  :: d_step { !cancelled && status[i] == New -> status[i] = Running } \
  :: d_step { !cancelled && status[i] == New -> status[i] = Suspended; waits[i]++ } \
  :: d_step { !cancelled && status[i] == New -> status[i] = Succeeded } \
  :: d_step { !cancelled && status[i] == New -> status[i] = Failed } \
  :: d_step { !cancelled && status[i] == New -> status[i] = Cancelled } \
  :: d_step { !cancelled && status[i] == Running && waits[i] < 3 -> status[i] = Suspended; waits[i]++ } \
  :: d_step { !cancelled && status[i] == Running -> status[i] = Succeeded } \
  :: d_step { !cancelled && status[i] == Running -> status[i] = Failed } \
  :: d_step { !cancelled && status[i] == Running -> status[i] = Cancelled } \
  :: d_step { !cancelled && status[i] == Suspended -> status[i] = Resuming } \
  :: d_step { !cancelled && status[i] == Suspended -> status[i] = Cancelled } \
  :: d_step { !cancelled && status[i] == Resuming -> status[i] = Running } \
  :: d_step { !cancelled && status[i] == Resuming && waits[i] < 3 -> status[i] = Suspended; waits[i]++ } \
  :: d_step { !cancelled && status[i] == Resuming -> status[i] = Succeeded } \
  :: d_step { !cancelled && status[i] == Resuming -> status[i] = Failed } \
  :: d_step { !cancelled && status[i] == Resuming -> status[i] = Cancelled }

#define LIVE(i) (status[i] < Succeeded)
#define CANCEL(i) if :: LIVE(i) -> status[i] = Cancelled :: else fi

active proctype agent() {
  do
  CALL(0)
#if N > 1
  CALL(1)
#endif
#if N > 2
  CALL(2)
#endif
#if N > 3
  CALL(3)
#endif
#if N > 4
  CALL(4)
#endif
  :: d_step {
       !cancelled && (LIVE(0)
#if N > 1
       || LIVE(1)
#endif
#if N > 2
       || LIVE(2)
#endif
#if N > 3
       || LIVE(3)
#endif
#if N > 4
       || LIVE(4)
#endif
       ) ->
       CANCEL(0);
#if N > 1
       CANCEL(1);
#endif
#if N > 2
       CANCEL(2);
#endif
#if N > 3
       CANCEL(3);
#endif
#if N > 4
       CANCEL(4);
#endif
       cancelled = true
     }
  od
}
