// Package ratelimit limits requests per client with a token bucket each.
package ratelimit

import (
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Limiter hands out tokens at Rate per second, up to Burst at once.
type Limiter struct {
	Rate  float64
	Burst float64
	Now   func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	tokens float64
	seen   time.Time
}

// Allow reports whether client may go on, and otherwise how long it should wait.
func (l *Limiter) Allow(client string) (ok bool, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()

	now := l.now()
	if l.buckets == nil {
		l.buckets = make(map[string]*bucket)
	}
	b, known := l.buckets[client]
	if !known {
		b = &bucket{tokens: l.Burst, seen: now}
		l.buckets[client] = b
	}
	b.tokens = min(l.Burst, b.tokens+now.Sub(b.seen).Seconds()*l.Rate)
	b.seen = now
	if b.tokens >= 1 {
		b.tokens--
		return true, 0
	}
	missing := (1 - b.tokens) / l.Rate
	return false, time.Duration(missing * float64(time.Second))
}

// Forget drops clients that have not been seen for longer than idle.
func (l *Limiter) Forget(idle time.Duration) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	dropped := 0
	for client, b := range l.buckets {
		if l.now().Sub(b.seen) > idle {
			delete(l.buckets, client)
			dropped++
		}
	}
	return dropped
}

// Wrap answers 429 Too Many Requests where a client is over its limit.
func (l *Limiter) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		if ok, wait := l.Allow(host); !ok {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (l *Limiter) now() time.Time {
	if l.Now != nil {
		return l.Now()
	}
	return time.Now()
}
