// golang.org/x/time/rate in one process: goroutines that wait for a limiter which never makes them wait. One JSON line.
//
//	rate WAITERS SECONDS    ($GOMAXPROCS says on how many processors)
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

func main() {
	waiters, _ := strconv.Atoi(os.Args[1])
	seconds, _ := strconv.ParseFloat(os.Args[2], 64)
	limiter := rate.NewLimiter(rate.Limit(1e9), 1000000000)
	var over atomic.Bool
	counts := make([]int64, waiters*8) // apart, so that no two share a cache line
	ended := make(chan bool)
	began := time.Now()
	for i := 0; i < waiters; i++ {
		go func(count *int64) {
			for !over.Load() {
				if limiter.Wait(context.Background()) == nil {
					*count++
				}
			}
			ended <- true
		}(&counts[i*8])
	}
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	over.Store(true)
	took := time.Since(began).Seconds()
	var sum int64
	for i := 0; i < waiters; i++ {
		<-ended
		sum += counts[i*8]
	}
	fmt.Printf("{\"grants\": %d, \"per_second\": %.0f}\n", sum, float64(sum)/took)
}
