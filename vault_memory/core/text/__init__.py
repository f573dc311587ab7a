"""Text made comparable: one spelling for Traditional and Simplified Chinese, full and half width, and inflected English."""
