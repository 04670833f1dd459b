package pgledger

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"
)

// ring asks for listeners to be told. A NOTIFY in the transaction itself would make the commits of all transactions
// wait for each other.
func (l *Ledger) ring() {
	select {
	case l.want <- struct{}{}:
	default:
	}
}

// notify tells other processes of new work, once for all that came while the last was on its way.
func (l *Ledger) notify(life context.Context) {
	const patience = 5 * time.Second
	for {
		select {
		case <-life.Done():
			return
		case <-l.want:
		}
		ctx, cancel := context.WithTimeout(life, patience)
		_, _ = l.pool.Exec(ctx, "SELECT pg_notify($1, '')", l.channel) // polling finds what nobody was told of
		cancel()
	}
}

// Wake implements [idem.Waker]. It holds a connection of its own until ctx ends, beside the pool's, made by the pool's
// configuration. When it breaks it is made again; what was told in between is told at once.
func (l *Ledger) Wake(ctx context.Context) (<-chan struct{}, error) {
	conn, err := l.listen(ctx)
	if err != nil {
		return nil, wrap("wake", err)
	}
	out := make(chan struct{}, 1)
	go func() {
		defer close(out)
		for ctx.Err() == nil {
			if conn != nil {
				relay(ctx, conn, out)
			}
			conn = l.listenAgain(ctx)
			tell(out)
		}
	}()
	return out, nil
}

func (l *Ledger) listen(ctx context.Context) (*pgx.Conn, error) {
	cfg := l.pool.Config()
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, err
	}
	if cfg.AfterConnect != nil {
		err = cfg.AfterConnect(ctx, conn)
	}
	if err == nil {
		_, err = conn.Exec(ctx, "LISTEN "+l.channel)
	}
	if err != nil {
		hangUp(ctx, conn)
		return nil, err
	}
	return conn, nil
}

// listenAgain returns nil when ctx ended.
func (l *Ledger) listenAgain(ctx context.Context) *pgx.Conn {
	policy := backoff.NewExponentialBackOff()
	policy.InitialInterval, policy.MaxInterval = 100*time.Millisecond, 10*time.Second
	conn, err := backoff.Retry(ctx, func() (*pgx.Conn, error) { return l.listen(ctx) }, backoff.WithBackOff(policy), backoff.WithMaxElapsedTime(0))
	if err != nil {
		return nil
	}
	return conn
}

// relay hands on what it hears until the connection or ctx ends.
func relay(ctx context.Context, conn *pgx.Conn, out chan<- struct{}) {
	defer hangUp(ctx, conn)
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return
		}
		tell(out)
	}
}

func tell(out chan<- struct{}) {
	select {
	case out <- struct{}{}:
	default:
	}
}

func hangUp(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	_ = conn.Close(ctx) // it is given up either way
}
